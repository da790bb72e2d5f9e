"""The streaming job: adds batch after batch of captured records to the tables, each once.

A batch is written and decided as an ingest is (`kwire.pipeline.ingest`), by the same functions, so
that both cannot differ. What is its own: a row of `sources` for each batch, so that one that Spark
repeats is known; and requests that wait for their responses, or the reverse, for the next batch.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from time import sleep

import msgspec
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from kwire.errors import LocalError
from kwire.pipeline.ingest import Summary, discarded_on_failure, publish
from kwire.pipeline.opening import ensure_no_plain_tables
from kwire.pipeline.schemas import OF_CAPTURES
from kwire.pipeline.store.ledger import FOLDER as STAGING
from kwire.pipeline.store.ledger import Busy, Ingest, Ledger, LedgerRow, is_id, new_id
from kwire.pipeline.store.location import Location, of_hadoop
from kwire.pipeline.store.sources import BATCH, Stretch
from kwire.pipeline.writing.captures import CaptureWriter, IngestStep, Work, Written
from kwire.pipeline.writing.target import WriteTarget

LATE = timedelta(hours=2)
"""The time that a request waits for its response, by the times in the captures; the default."""

PAUSE = 0.5
"""Seconds between two checks whether the stream has ended."""

FOLDER = "_stream"
"""The folder beside the tables with Spark's checkpoint, and rows that wait."""

CHECKPOINT, WAITING = "checkpoint", "waiting"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BatchFailed(Exception):
    """The short error that Spark gets for a batch that failed; the job keeps the reason.

    A long one, with the traces of two languages, overflows the stack on which Spark searches it
    (StreamExecution.isInterruptionException), and Spark prints a thousand lines about that.
    """


class OutOfStep(LocalError):
    """The tables and the checkpoint do not belong together."""


@dataclass(frozen=True, slots=True)
class StreamSource:
    """A source to follow. rows: a stream. work: what is to be read for the rows of a batch."""

    rows: DataFrame
    work: Callable[[DataFrame], Work]


def stream(
    source: StreamSource,
    output: str,
    *,
    every: timedelta | None,
    late: timedelta = LATE,
    on_step: IngestStep = lambda table: None,
    look: Callable[[], None] = lambda: None,
) -> Summary:
    """Add what a source gives to the tables below `output`, from where it was left.

    every: the time between two looks for more, until it is interrupted; None to take only what is
    there. late: as LATE. look: called again and again while it runs.
    Raises StreamingQueryException if the source cannot be read on, and the error of a batch:
    PySparkException, CountsDiffer, OutOfStep, CannotCommit, TableUnusable, NoTables.
    """
    ensure_no_plain_tables(output)
    location = Location.of(output)
    job = StreamJob(source, location, late, on_step)
    writer = source.rows.writeStream.queryName("kwire").foreachBatch(job.take)
    checkpoint = of_hadoop(location.below(FOLDER, CHECKPOINT))
    query = _triggered(writer.option("checkpointLocation", checkpoint), every).start()
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

    source: StreamSource
    location: Location
    late: timedelta
    on_step: IngestStep
    summary: Summary = field(default_factory=Summary)
    failed: Exception | None = None
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.location)

    def take(self, rows: DataFrame, number: int) -> None:
        """Write a batch that Spark hands over. Raises BatchFailed."""
        try:
            self.write(rows, number)
        except Exception as error:
            self.failed = error
            raise BatchFailed(f"batch {number}") from None

    def write(self, rows: DataFrame, number: int) -> None:
        """Write a batch, unless it was written before. Raises OutOfStep."""
        query = self._query()
        self.ledger.look()
        work = self.source.work(rows)
        written = self.ledger.batch(query, number)
        if written is not None:
            if _note(written).content != work.content:
                raise OutOfStep(self._remedy(f"is older than batch {number} in the tables"))
            self.on_step(f"batch {number}: was written before")
            return
        # A stream that begins anew takes over what waits since the one before it.
        before = self.ledger.batch(query, number - 1) if number else self.ledger.latest_batch()
        if number and before is None:
            raise OutOfStep(self._remedy(f"has read {number} batches that are not in the tables"))
        self.remove_waiting(None if before is None else before["ingest"])
        batch = _BatchInWork(self, rows.sparkSession, query, number, before)
        with discarded_on_failure(rows.sparkSession, self.ledger, batch.id):
            batch.write(work)

    def _remedy(self, fault: str) -> str:
        checkpoint = self.location.below(FOLDER, CHECKPOINT)
        return (
            f"{checkpoint} {fault}: restore what belongs together, or remove this folder and read"
            " everything again; frames that the tables have are left out."
        )

    def _query(self) -> str:
        """Return the id of the query, which Spark keeps in the checkpoint."""
        filesystem, folder = self.location.files()
        data = filesystem.cat_file(f"{folder}/{FOLDER}/{CHECKPOINT}/metadata")
        return str(msgspec.json.decode(data)["id"])

    def remove_waiting(self, kept: str | None) -> None:
        """Remove rows that wait for nobody: those of all batches, and attempts, but one."""
        filesystem, folder = self.location.files()
        with suppress(FileNotFoundError):
            for path in filesystem.ls(f"{folder}/{FOLDER}/{WAITING}", detail=False):
                if is_id(name := PurePosixPath(path).name) and name != kept:
                    filesystem.rm(path, recursive=True)


class _Note(msgspec.Struct):
    """The note in the row of a batch, in the column `file`, beside its number.

    content: of the work, see `Work`. waiting: names of files with rows that go on waiting; others
    in their folder are of tries that failed.
    """

    content: str = ""
    waiting: list[str] = []


def _note(row: LedgerRow) -> _Note:
    return msgspec.json.decode(row["file"], type=_Note)


class _BatchInWork:
    """One batch that is being written. before: the row of the batch before it."""

    def __init__(
        self, job: StreamJob, spark: SparkSession, query: str, number: int, before: LedgerRow | None
    ) -> None:
        self._job, self._spark, self._query, self._number = job, spark, query, number
        self._before = before
        self.id = new_id()
        location = job.location
        self._target = WriteTarget(
            location.url,
            self.id,
            OF_CAPTURES,
            location.below(STAGING, self.id),
            location.below(FOLDER, WAITING, self.id),
        )

    def write(self, work: Work) -> None:
        """Write the rows of the batch, and make them part of the tables."""
        writer = CaptureWriter(self._spark, self._job.ledger, self._target, work)
        writer.begin(self._report)
        seen_us = self._seen_us(writer)
        watermark_us = seen_us - int(self._job.late.total_seconds() * 1_000_000)
        waited = self._waited()

        def complete() -> tuple[list[Written], Ingest]:
            if self._job.ledger.batch(self._query, self._number) is not None:
                raise Busy("the same stream is written by another process.")
            done = writer.complete(self._report, waited=waited, watermark_us=watermark_us)
            self._report("committing")
            return [done], self._ingest(done, seen_us, work)

        (done,) = publish(self._job.ledger, complete)
        self._job.remove_waiting(self.id)
        self._job.summary.add_read(writer.read)
        self._job.summary.add_written(done)
        self._job.summary.read += sorted({stretch.file for stretch in writer.read.stretches})

    def _ingest(self, done: Written, seen_us: int, work: Work) -> Ingest:
        waiting = sorted(PurePosixPath(path).name for path in done.halves or ())
        row = self._row(seen_us, _Note(work.content, waiting))
        return Ingest(
            id=self.id,
            tables=list(OF_CAPTURES),
            files=done.report.files,
            stretches=[*done.stretches, row],
        )

    def _row(self, seen_us: int, note: _Note) -> Stretch:
        return Stretch(
            kind=BATCH,
            source=self._query,
            file=msgspec.json.encode(note).decode(),
            first=self._number,
            last=self._number,
            begin=None,
            end=seen_us,
            rows=0,
        )

    def _seen_us(self, writer: CaptureWriter) -> int:
        """Return the latest time in this batch and all before it, in microseconds of Unix time."""
        times = [stretch.end or 0 for stretch in writer.read.stretches]
        if self._before is not None:
            times.append((self._before["end"] - _EPOCH) // timedelta(microseconds=1))
        return max(times, default=0)

    def _waited(self) -> list[str]:
        """Return the files of rows that wait since the batch before."""
        if self._before is None:
            return []
        folder = self._job.location.below(FOLDER, WAITING, self._before["ingest"])
        filesystem, inside = Location(folder).files()
        names = _note(self._before).waiting
        missing = [name for name in names if not filesystem.exists(f"{inside}/{name}")]
        if missing and self._before["source"] == self._query:
            raise OutOfStep(f"{folder} lacks {missing[0]}, which waits for this batch: restore it.")
        return [f"{folder}/{name}" for name in names if name not in missing]

    def _report(self, doing: str) -> None:
        self._job.on_step(f"batch {self._number}: {doing}")
