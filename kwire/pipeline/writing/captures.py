"""Writes the tables of captures: every frame once, whatever comes twice or was there before.

1. Tasks read, decode and write their slices, and report what they found.
2. A recording is in doubt if two slices overlap, if frames are not in the order of a recorder, or
   if the tables have some of these frames already. What was written of it is removed, and it is
   read again: sorted, each frame once, and without those that the tables have.
3. Requests and responses of different slices are paired.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import fsspec
import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.arrow_tasks import RecordBatches, map_batches
from kwire.pipeline.decoding import DECODED
from kwire.pipeline.reading.planning import Slice
from kwire.pipeline.reading.rows import parquet_batches, read_files
from kwire.pipeline.repeated import known_frames, once, tables_with, without
from kwire.pipeline.store.files import TableFile
from kwire.pipeline.store.ledger import Ledger
from kwire.pipeline.store.sources import CAPTURE, Stretch, joined
from kwire.pipeline.tables.captured import PAIRED
from kwire.pipeline.tables.clusters import clusters_of
from kwire.pipeline.writing.reports import (
    REPORT,
    Report,
    ensure_same,
    reports_of,
    together,
)
from kwire.pipeline.writing.stretches import overlapping
from kwire.pipeline.writing.target import WriteTarget, mark
from kwire.pipeline.writing.tasks import (
    decode_rows,
    decode_slices,
    settle,
    write_decoded,
    write_rows,
    write_slices,
)

FEW = 200_000
"""Rows without their other half that are paired without Spark, which needs a second to begin."""

IngestStep = Callable[[str], None]
"""Called with the name of each step, as `reading frames`."""


class Work(Protocol):
    """The work of tasks, of captures or of rows."""

    @property
    def content(self) -> str:
        """A word that is another one if anything else is read; empty if unknown."""

    def reports(self, target: WriteTarget) -> DataFrame:
        """Return the reports of tasks that write everything."""

    def decoded(self, target: WriteTarget, parts: Sequence[int]) -> DataFrame:
        """Return the rows of DECODED of some parts."""


@dataclass(frozen=True, slots=True)
class SliceWork:
    """Slices of files, a task each. They are broadcast: as part of a task they would be sent, and
    kept, once for each of them.
    """

    spark: SparkSession
    slices: Sequence[Slice]

    @property
    def content(self) -> str:
        """A digest of the names and sizes of the files."""
        files = sorted({(part.file.path, part.file.size) for part in self.slices})
        return hashlib.sha256(repr(files).encode()).hexdigest()[:32]

    def reports(self, target: WriteTarget) -> DataFrame:
        writing = partial(write_slices, target, self._broadcast(self.slices))
        return map_batches(self._tasks(self.slices), writing, REPORT)

    def decoded(self, target: WriteTarget, parts: Sequence[int]) -> DataFrame:
        chosen = [self.slices[part] for part in parts]
        decoding = partial(decode_slices, target, self._broadcast(chosen))
        return map_batches(self._tasks(chosen), decoding, DECODED)

    def _tasks(self, slices: Sequence[Slice]) -> DataFrame:
        # One row, and one partition, a slice: Spark then schedules a slice as a task.
        return self.spark.range(0, len(slices), 1, max(len(slices), 1))

    def _broadcast(self, slices: Sequence[Slice]) -> Any:
        return self.spark.sparkContext.broadcast(list(slices))


@dataclass(frozen=True, slots=True)
class RowWork:
    """Rows of Spark's own readers. read: makes rows of CAPTURED of them, in a task."""

    rows: DataFrame
    read: Callable[[RecordBatches], RecordBatches]
    content: str = ""

    def reports(self, target: WriteTarget) -> DataFrame:
        return map_batches(self.rows, partial(write_rows, target, self.read), REPORT)

    def decoded(self, target: WriteTarget, parts: Sequence[int]) -> DataFrame:
        return map_batches(self.rows, partial(decode_rows, target, self.read), DECODED)


@dataclass(slots=True)
class Written:
    """Captures as they were written. kept: files of step 1, which another try can use again.

    repeated: frames that came more than once, or were there before. halves: files for the next
    batch of a stream.
    """

    report: Report
    stretches: list[Stretch]
    kept: frozenset[str]
    repeated: int = 0
    halves: list[str] | None = None


class CaptureWriter:
    """Writes the tables of what tasks read, as often as the ledger asks for it."""

    def __init__(
        self, spark: SparkSession, ledger: Ledger, target: WriteTarget, work: Work
    ) -> None:
        self._spark, self._ledger, self._target, self._work = spark, ledger, target, work
        self._first: list[Report] = []
        self.read = Report()
        """The report of step 1: counts of all frames, repeated ones too, and damage."""
        self._removed: set[int] = set()

    def begin(self, on_step: IngestStep) -> None:
        """Take step 1."""
        mark(self._target)
        on_step("reading frames")
        self._first = list(reports_of(self._work.reports(self._target)))
        self.read = together(self._first)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that it writes."""
        return self._target.tables

    def complete(
        self, on_step: IngestStep, *, waited: Sequence[str] = (), watermark_us: int | None = None
    ) -> Written:
        """Take steps 2 and 3. waited, watermark_us: halves of batches before, see `settle`.

        Raises AlreadyThere, CountsDiffer.
        """
        known = self._known()
        clean, doubtful = self._apart({row["source"] for row in known})
        written = together(clean)
        self._ensure_whole(written)
        stretches, repeated = list(written.stretches), 0
        kept = frozenset(file.path for file in written.files)
        if doubtful:
            # 2.
            on_step("leaving out repeated frames")
            again, repeated = self._again(doubtful, known)
            if again.rows or again.halves:
                stretches += together(doubtful).stretches
                # Their own are of rows in another order.
                again.stretches = []
                written.add(again)
        # 3.
        halves = [*written.halves, *waited]
        rows = written.half_rows + (FEW + 1 if waited else 0)
        settled = self._settled(halves, rows, watermark_us, on_step) if halves else Report()
        written.halves = []
        written.add(settled)
        return Written(
            report=written,
            stretches=_identified(stretches, clusters_of(self.read.clusters)),
            kept=kept,
            repeated=repeated,
            halves=settled.halves,
        )

    def _known(self) -> list[dict[str, Any]]:
        return tables_with(self._ledger.known(self.read.stretches), self._target.tables)

    def _apart(self, known: set[str]) -> tuple[list[Report], list[Report]]:
        """Return the reports without a doubt, and the others, whose files are removed."""
        ranges = [one for report in self._first for one in report.ranges]
        doubted = known | overlapping(ranges)
        for report in self._first:
            if not report.unbroken:
                doubted |= {one.capture for one in report.ranges}
        in_doubt = {
            number
            for number, report in enumerate(self._first)
            if not doubted.isdisjoint(stretch.source for stretch in report.stretches)
        }
        # What was removed in an earlier try is not there, whatever is known now.
        in_doubt |= self._removed
        if any(self._first[number].part < 0 for number in in_doubt):
            # Messages of a topic have no parts that could be read alone.
            in_doubt = set(range(len(self._first)))
        for number in in_doubt - self._removed:
            remove_files(self._target.output, self._first[number].files)
        self._removed = in_doubt
        clean = [report for n, report in enumerate(self._first) if n not in in_doubt]
        return clean, [self._first[number] for number in sorted(in_doubt)]

    def _again(self, doubtful: list[Report], known: list[dict[str, Any]]) -> tuple[Report, int]:
        parts = sorted(report.part for report in doubtful)
        rows = once(self._work.decoded(self._target, parts))
        if known:
            stretches = together(doubtful).stretches
            tables = self._target.tables
            there = known_frames(self._spark, self._ledger, known, stretches, tables)
            rows = without(rows, there)
        order = ("capture", "connection", "event", "kind")
        sorted_rows = rows.repartition("capture", "connection").sortWithinPartitions(*order)
        tasks = map_batches(sorted_rows, partial(write_decoded, self._target), REPORT)
        again = together(reports_of(tasks))
        self._ensure_whole(again)
        read = sum(report.read for report in doubtful)
        return again, read - again.read

    def _ensure_whole(self, report: Report) -> None:
        if "frames" in self._target.tables:
            ensure_same(report.read, report.rows.get("frames", 0), "frames")

    def _settled(
        self, halves: list[str], rows: int, watermark_us: int | None, on_step: IngestStep
    ) -> Report:
        on_step("pairing requests with responses")
        if not PAIRED & set(self._target.tables):
            return Report()
        pair = partial(settle, self._target, watermark_us)
        if rows <= FEW:
            (row,) = pair(parquet_batches(halves, DECODED))
            return _report(row)
        by_connection = read_files(self._spark, halves, DECODED).repartition(
            "capture", "connection"
        )
        return together(reports_of(map_batches(by_connection, pair, REPORT)))


def remove_files(output: str, files: Iterable[TableFile]) -> None:
    """Remove files that no commit names; those that are not there are as good as removed."""
    filesystem, folder = fsspec.core.url_to_fs(output)
    for file in files:
        with suppress(FileNotFoundError):
            filesystem.rm_file(f"{folder}/{file.table}/{file.path}")


def _report(row: pa.RecordBatch) -> Report:
    return msgspec.json.decode(row["report"][0].as_py(), type=Report)


def _identified(stretches: list[Stretch], clusters: dict[str, str]) -> list[Stretch]:
    whole = joined(stretches)
    for stretch in whole:
        if stretch.kind == CAPTURE:
            stretch.cluster_id = clusters.get(stretch.source)
    return whole
