"""The report of a task: its only output through Spark, as JSON in one column.

Spark counts while it writes: rows read must be rows written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from kwire.errors import LocalError
from kwire.pipeline.store.files import TableFile, TableFiles
from kwire.pipeline.store.sources import Stretch
from kwire.pipeline.writing.stretches import FrameRange

REPORT = pa.schema([("report", pa.string())])

TOLD = 20
"""Sentences about damage that a task reports; `frames` has a row for each, however many."""


class CountsDiffer(LocalError):
    """Not every row that was read was written: a fault of the pipeline, or a file that changed."""


class Report(msgspec.Struct, kw_only=True):
    """The work that a task did, or several of them together.

    part: the number of the slice, -1 for none. files: for tables. halves: files of requests and
    responses without the other, and their rows. read: rows of captures. rows, failed: as TableFiles
    has them. counts: frames by status, and notices. damages: the first sentences of `damaged`.
    clusters: how often a recording names a cluster, in responses and in requests.
    """

    part: int = -1
    files: list[TableFile] = []
    halves: list[str] = []
    half_rows: int = 0
    read: int = 0
    rows: dict[str, int] = {}
    failed: dict[str, int] = {}
    counts: dict[str, int] = {}
    damages: list[str] = []
    damaged: int = 0
    unbroken: bool = True
    ranges: list[FrameRange] = []
    stretches: list[Stretch] = []
    clusters: list[tuple[str, str, bool, int]] = []

    def wrote(self, files: TableFiles) -> None:
        """Take the files that a task has written, and their counts."""
        self.files, self.rows, self.failed = files.files, dict(files.rows), dict(files.failed)

    def add(self, other: Report) -> None:
        """Add what another one did. The order of damages is that of the reports."""
        self.files += other.files
        self.halves += other.halves
        self.half_rows += other.half_rows
        self.read += other.read
        for mine, more in (
            (self.rows, other.rows),
            (self.failed, other.failed),
            (self.counts, other.counts),
        ):
            add_counts(mine, more)
        self.damages += other.damages[: max(0, MOST_TOLD - len(self.damages))]
        self.damaged += other.damaged
        self.stretches += other.stretches
        self.clusters += other.clusters


def add_counts(counts: dict[str, int], more: dict[str, int]) -> None:
    """Add counts to those of the same name; zeros are left out."""
    for name, count in more.items():
        if count:
            counts[name] = counts.get(name, 0) + count


MOST_TOLD = 1000
"""Sentences about damage that a whole ingest reports."""


def encoded(report: Report) -> pa.RecordBatch:
    """Return a report as the row of a task."""
    text = msgspec.json.encode(report).decode()
    return pa.RecordBatch.from_pydict({"report": [text]})


def reports_of(tasks: DataFrame) -> Iterator[Report]:
    """Run tasks; yield their reports."""
    for row in tasks.collect():
        yield msgspec.json.decode(row.report, type=Report)


def together(reports: Iterable[Report]) -> Report:
    """Return what several tasks did."""
    whole = Report()
    for report in sorted(reports, key=lambda one: one.part):
        whole.add(report)
    return whole


def count_rows() -> Column:
    """Return the count of all rows, as `rows`."""
    return f.count(f.lit(1)).alias("rows")


def ensure_same(read: int, written: int, what: str) -> None:
    """Raise CountsDiffer unless the counts are equal. what: the noun for the message."""
    if read != written:
        raise CountsDiffer(
            f"{read} {what} were read and {written} written: a file has changed meanwhile, or kwire"
            " is at fault; do not use these tables."
        )
