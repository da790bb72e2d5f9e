"""The streaming job: writes the rows of batch after batch of captured records, each once.

The functions that make the tables are those of `kwire.pipeline.ingest`, a batch at a time, so that
both cannot differ. For `calls` and `quorum`, a request waits for its response, and the reverse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from time import sleep

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as f
from pyspark.sql.streaming.readwriter import DataStreamWriter

from kwire.pipeline.counting import count_rows, ensure_same, failures, statuses
from kwire.pipeline.decoding import DECODED, decode_batches
from kwire.pipeline.ingest import OF_CAPTURES, Step, Summary
from kwire.pipeline.reading.captured import DAMAGE
from kwire.pipeline.repeated import new
from kwire.pipeline.streaming.publishing import CHECKPOINT, FOLDER, Batch, Publisher
from kwire.pipeline.streaming.settling import settled, waiting

LATE = timedelta(hours=2)
"""The time that a request waits for its response, by the times in the captures; the default."""

PAUSE = 0.5
"""Seconds between two checks whether the stream has ended."""

PAIRED = frozenset({"calls", "quorum"})
"""Tables whose rows are made of a request and its response."""

_DECODED, _WAITING = "decoded", "waiting"


class BatchFailed(Exception):
    """The short error that Spark gets for a batch that failed; the job keeps the reason.

    A long one, with the traces of two languages, overflows the stack on which Spark searches it
    (StreamExecution.isInterruptionException), and Spark prints a thousand lines about that.
    """


def stream(
    captured: DataFrame,
    output: str,
    *,
    every: timedelta | None,
    late: timedelta = LATE,
    on_step: Step = lambda table: None,
    look: Callable[[], None] = lambda: None,
) -> Summary:
    """Write the tables of a stream of CAPTURED below `output`, from where it was left.

    every: the time between two looks for more, until it is interrupted; None to take only what is
    there. late: as LATE. look: called again and again while it runs.
    Raises StreamingQueryException if the source cannot be read on, and the error of a batch:
    PySparkException, CountsDiffer, OutOfStep.
    """
    job = StreamJob(output, late, on_step)
    writer = captured.writeStream.queryName("kwire").foreachBatch(job.take)
    writer = writer.option("checkpointLocation", f"{output}/{FOLDER}/{CHECKPOINT}")
    query = _triggered(writer, every).start()
    try:
        while query.isActive:
            sleep(PAUSE)  # in awaitTermination, Ctrl-C would break the connection to the JVM
            look()
        query.awaitTermination()
    except StreamingQueryException as error:
        raise job.failed or error from None
    finally:
        query.stop()
    return job.summary


def _triggered(writer: DataStreamWriter, every: timedelta | None) -> DataStreamWriter:
    if every is None:
        return writer.trigger(availableNow=True)
    return writer.trigger(processingTime=f"{every.total_seconds()} seconds")


@dataclass(slots=True)
class StreamJob:
    """Writes batches. summary: of those that this job wrote. failed: the error that ended it."""

    output: str
    late: timedelta
    on_step: Step
    summary: Summary = field(default_factory=Summary)
    failed: Exception | None = None
    publisher: Publisher = field(init=False)

    def __post_init__(self) -> None:
        self.publisher = Publisher(self.output)

    def take(self, captured: DataFrame, number: int) -> None:
        """Write a batch that Spark hands over. Raises BatchFailed."""
        try:
            self.write(captured, number)
        except Exception as error:
            self.failed = error
            raise BatchFailed(f"batch {number}") from None

    def write(self, captured: DataFrame, number: int) -> None:
        """Write a batch; only finish moving it if it was written before. Raises OutOfStep."""
        last = self.publisher.last()
        if last is not None and last.number == number:
            self.on_step(f"batch {number}: was written before")
            self.publisher.move(last)
            return
        folder = self.publisher.attempt(number)
        batch = _BatchInWork(self, number, f"{self.output}/{FOLDER}/{folder}")
        staged = batch.stage(captured, 0 if last is None else last.seen_us)
        waited = [] if last is None else [f"{self.output}/{FOLDER}/{last.folder}/{_WAITING}"]
        batch.write(staged, waited)
        self.publisher.discard(f"{folder}/{_DECODED}")
        self.on_step(f"batch {number}: moving to the tables")
        self.publisher.publish(Batch(number=number, folder=folder, seen_us=staged.seen_us))


@dataclass(frozen=True, slots=True)
class _Staged:
    """Frames that are decoded and new. rows: their count. seen_us: the latest time so far."""

    frame: DataFrame
    rows: int
    seen_us: int


@dataclass(frozen=True, slots=True)
class _BatchInWork:
    """One batch that is being written, to a folder of this attempt."""

    job: StreamJob
    number: int
    folder: str

    def stage(self, captured: DataFrame, seen_us: int) -> _Staged:
        """Decode the batch to a folder, counted before and after; leave out repeated frames.

        seen_us: the latest time in all batches before.
        """
        self._report("reading frames")
        read, decoded = Observation(), Observation()
        rows = captured.observe(read, count_rows()).mapInArrow(decode_batches, DECODED)
        latest = f.max(f.unix_micros("at")).alias("latest")
        observed = rows.observe(decoded, count_rows(), latest, *statuses())
        folder = f"{self.folder}/{_DECODED}"
        observed.write.option("compression", "lz4").parquet(folder)
        counts = dict(decoded.get)
        count = int(counts.pop("rows"))
        ensure_same(int(read.get["rows"]), count, "frames")
        seen_us = max(seen_us, counts.pop("latest") or 0)
        _add(self.job.summary.frames, counts)
        staged = captured.sparkSession.read.parquet(folder)
        self.job.summary.read += [row.file for row in staged.select("file").distinct().collect()]
        damages = staged.where(f.col("notice") == DAMAGE).select("text")
        self.job.summary.damages += [row.text for row in damages.collect()]
        fresh, repeated = new(staged, self.job.output)
        self.job.summary.repeated += repeated
        return _Staged(fresh, count - repeated, seen_us)

    def write(self, staged: _Staged, waited: list[str]) -> None:
        """Write the tables, and the rows that go on waiting. waited: folders of waiting rows."""
        reader = staged.frame.sparkSession.read
        both = staged.frame
        for folder in waited:
            both = both.unionByName(reader.parquet(folder))
        waits = f"{self.folder}/{_WAITING}"
        watermark_us = staged.seen_us - int(self.job.late.total_seconds() * 1_000_000)
        waiting(both, watermark_us).write.parquet(waits)
        pairs = settled(both, reader.parquet(waits))
        for name, make in OF_CAPTURES.items():
            count = self._table(make(pairs if name in PAIRED else staged.frame), name)
            if name == "frames":
                ensure_same(staged.rows, count, name)

    def _table(self, rows: DataFrame, table: str) -> int:
        self._report(f"writing {table}")
        written = Observation()
        counts = failures() if table == "verdicts" else []
        observed = rows.observe(written, count_rows(), *counts)
        observed.write.partitionBy("date", "hour").parquet(f"{self.folder}/{table}")
        failed = dict(written.get)
        count = int(failed.pop("rows"))
        _add(self.job.summary.rows, {table: count})
        _add(self.job.summary.failed, failed)
        return count

    def _report(self, doing: str) -> None:
        self.job.on_step(f"batch {self.number}: {doing}")


def _add(counts: dict[str, int], more: dict[str, int]) -> None:
    for name, count in more.items():
        if count:
            counts[name] = counts.get(name, 0) + count
