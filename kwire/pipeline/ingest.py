"""Adds captures and metadata logs to the tables: `kwire pipeline ingest`.

1. Find the files, and refuse what cannot be read before anything is written.
2. Write the rows of all tables where they stay (`kwire.pipeline.writing`). Nobody sees them yet.
3. Make them part of the tables, all at once (`kwire.pipeline.store.ledger`). If another ingest has
   brought some of the same frames or records meanwhile, leave those out, and try again.
If it ends before step 3, whatever ends it, the tables are as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic, sleep

from pyspark.sql import SparkSession

from kwire.pipeline.arrow_tasks import RecordBatches
from kwire.pipeline.opening import ensure_no_plain_tables
from kwire.pipeline.reading.avro import read_avro
from kwire.pipeline.reading.planning import SPLIT, Slice, plan, plan_in_tasks, split_for
from kwire.pipeline.reading.storage import CAPTURED, LOGGED, File, find
from kwire.pipeline.schemas import OF_CAPTURES, OF_LOGS
from kwire.pipeline.store.full import StorageFull, is_full
from kwire.pipeline.store.ledger import FOLDER, Busy, Ingest, Ledger, Overtaken, new_id
from kwire.pipeline.store.location import Location
from kwire.pipeline.writing.captures import (
    CaptureWriter,
    IngestStep,
    RowWork,
    SliceWork,
    Work,
    Written,
    remove_files,
)
from kwire.pipeline.writing.logs import LogTablesWriter
from kwire.pipeline.writing.reports import MOST_TOLD, Report, add_counts
from kwire.pipeline.writing.target import WriteTarget

TASKS_END = 10.0
"""Seconds for cancelled tasks to end; Spark kills a Python worker after two."""

PAUSE = 0.1

ROUNDS = 20
"""Times that others may be faster, one after the other."""


@dataclass(slots=True, kw_only=True)
class Summary:
    """The result. read: files. rows: written, by table. frames: read, by status.

    repeated: frames and records of these that had come before, and are not written again. damages:
    the first sentences about bytes that could not be read, with file and offset, of `damaged`.
    failed: failed verdicts, by check. ingest: its id in `sources`; None if nothing was new.
    """

    read: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    frames: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    damages: list[str] = field(default_factory=list)
    damaged: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    ingest: str | None = None

    def add_read(self, report: Report) -> None:
        """Add what was read."""
        add_counts(self.frames, report.counts)
        self.damages += report.damages[: max(0, MOST_TOLD - len(self.damages))]
        self.damaged += report.damaged

    def add_written(self, written: Written) -> None:
        """Add what was written."""
        add_counts(self.rows, written.report.rows)
        add_counts(self.failed, written.report.failed)
        self.repeated += written.repeated


def ingest(
    spark: SparkSession,
    paths: Sequence[str],
    output: str,
    *,
    tables: Sequence[str] = (),
    avro: bool = False,
    split: int | None = None,
    on_step: IngestStep = lambda table: None,
    summary: Summary | None = None,
) -> Summary:
    """Add everything that paths stand for to the tables below `output`, all of it or nothing.

    tables: only these; all by default. avro: read captures with Spark's own reader, whatever
    storage they are in. split: bytes of a file that one task reads. summary: is filled meanwhile;
    it has an ingest once everything is in the tables.
    Raises NothingToRead, FileError, AlreadyThere, CountsDiffer, CannotCommit, TableUnusable, Busy,
    StorageFull, NoTables where there are others.
    """
    ensure_no_plain_tables(output)
    job = _Ingestion(spark, output, tuple(tables), on_step, summary or Summary())
    with discarded_on_failure(spark, job.ledger, job.id):
        if avro:
            job.captured(RowWork(read_avro(spark, paths), _unchanged))
            job.summary.read = list(paths)
        else:
            job.files(readable(paths), split)
        job.finish()
    return job.summary


def readable(paths: Sequence[str]) -> list[File]:
    """Return the files that paths stand for, without a session. Raises NothingToRead, FileError."""
    files = find(paths, CAPTURED | LOGGED)
    # Many headers are opened by tasks, later.
    plan(files[:HEADERS])
    return files


HEADERS = 64
"""Files whose headers the driver opens by itself."""


class _Ingestion:
    """One ingest, from the files to the ledger."""

    def __init__(
        self,
        spark: SparkSession,
        output: str,
        only: tuple[str, ...],
        on_step: IngestStep,
        summary: Summary,
    ) -> None:
        self.id = new_id()
        self.summary = summary
        self.location = Location.of(output)
        self.ledger = Ledger(self.location)
        self._spark, self._only, self._on_step = spark, only, on_step
        self._writers: list[CaptureWriter | LogTablesWriter] = []

    def files(self, files: Sequence[File], split: int | None) -> None:
        """Take files to read."""
        self.summary.read = [file.path for file in files]
        captured = [file for file in files if file.kind in CAPTURED]
        logged = [file for file in files if file.kind in LOGGED]
        if captured and self._target(OF_CAPTURES).tables:
            self.captured(SliceWork(self._spark, self._slices(captured, split)))
        target = self._target(OF_LOGS)
        if logged and target.tables:
            slices = plan(logged, split or SPLIT)
            self._writers.append(LogTablesWriter(self._spark, self.ledger, target, slices))

    def captured(self, work: Work) -> None:
        """Take captures to read."""
        target = self._target(OF_CAPTURES)
        self._writers.append(CaptureWriter(self._spark, self.ledger, target, work))

    def finish(self) -> None:
        """Take steps 2 and 3."""
        for writer in self._writers:
            writer.begin(self._on_step)
            self.summary.add_read(writer.read)
        done = publish(self.ledger, self._complete)
        for written in done:
            self.summary.add_written(written)
        if any(written.stretches for written in done):
            self.summary.ingest = self.id
        else:
            self.ledger.discard(self.id)

    def _complete(self) -> tuple[list[Written], Ingest | None]:
        done = [writer.complete(self._on_step) for writer in self._writers]
        if not any(written.stretches for written in done):
            return done, None
        self._on_step("committing")
        return done, self._ingest(done)

    def _ingest(self, done: Sequence[Written]) -> Ingest:
        names = [name for writer in self._writers for name in writer.tables]
        return Ingest(
            id=self.id,
            tables=list(dict.fromkeys(names)),
            files=[file for written in done for file in written.report.files],
            stretches=[stretch for written in done for stretch in written.stretches],
        )

    def _slices(self, files: Sequence[File], split: int | None) -> Sequence[Slice]:
        size = split or split_for(sum(file.size for file in files))
        if len(files) <= HEADERS:
            return plan(files, size)
        self._on_step("opening files")
        return plan_in_tasks(self._spark, files, size)

    def _target(self, tables: Sequence[str]) -> WriteTarget:
        chosen = tuple(name for name in tables if not self._only or name in self._only)
        return WriteTarget(self.location.url, self.id, chosen, self.location.below(FOLDER, self.id))


@contextmanager
def discarded_on_failure(spark: SparkSession, ledger: Ledger, ingest: str) -> Iterator[None]:
    """Remove what an ingest has written if it fails before it is decided; its staging always.

    Raises StorageFull for any error that says so, else the error itself.
    """
    try:
        yield
    except BaseException as error:
        # A task that still runs would write its file again after it is removed.
        _wait_for_tasks(spark)
        with suppress(Exception):  # the error that ended it is the one to report
            ledger.discard(ingest)
        if is_full(error):
            raise StorageFull(
                f"no space is left for {ledger.location.url}: free some, then run it again; the"
                " tables have all of it, or nothing."
            ) from error
        raise
    ledger.clear(ingest)


def publish(
    ledger: Ledger, complete: Callable[[], tuple[list[Written], Ingest | None]]
) -> list[Written]:
    """Make what was written part of the tables; return it.

    complete: writes what the tables lack, as the ledger knows them; gives no ingest if nothing is
    new. It is called again if another ingest was first. Raises Busy.
    """
    for _ in range(ROUNDS):
        ledger.look()
        done, ingest = complete()
        if ingest is None:
            return done
        try:
            ledger.publish(ingest)
        except Overtaken:
            for written in done:
                others = [file for file in written.report.files if file.path not in written.kept]
                remove_files(ledger.location.url, others)
        else:
            return done
    raise Busy(f"{ledger.location.url} is written all the time: try again.")


def _unchanged(rows: RecordBatches) -> RecordBatches:
    return rows


def _wait_for_tasks(spark: SparkSession) -> None:
    """Wait until the tasks of a failed job have ended: they go on writing for a moment."""
    until = monotonic() + TASKS_END
    with suppress(Exception):  # the JVM may be gone, and all tasks with it
        status = spark.sparkContext._jsc.sc().statusTracker()
        while monotonic() < until:
            if not sum(executor.numRunningTasks() for executor in status.getExecutorInfos()):
                return
            sleep(PAUSE)
