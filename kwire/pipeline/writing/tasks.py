"""The work of a task: reads, decodes, makes the rows of all tables, writes them, and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kwire.capture import NOTICE
from kwire.pipeline.arrow_tasks import RecordBatches
from kwire.pipeline.decoding import decode_batch
from kwire.pipeline.reading.captured import DAMAGE, damage_texts, read_captured
from kwire.pipeline.reading.planning import Slice
from kwire.pipeline.store.files import TableFiles
from kwire.pipeline.store.location import Location, new_file
from kwire.pipeline.tables.captured import PAIRED, CapturedTables
from kwire.pipeline.tables.clusters import NamedClusters, named_clusters
from kwire.pipeline.writing.reports import TOLD, Report, add_counts, encoded
from kwire.pipeline.writing.stretches import Course
from kwire.pipeline.writing.target import WriteTarget, removed_if_given_up


def write_slices(
    target: WriteTarget, slices: Any, numbers: RecordBatches
) -> Iterator[pa.RecordBatch]:
    """Read and write the slices that Spark gives this task. slices: a broadcast list of Slice."""
    for batch in numbers:
        for number in batch["id"].to_pylist():
            part: Slice = slices.value[number]
            yield encoded(write_captured(target, read_captured(part), number))


def decode_slices(
    target: WriteTarget, slices: Any, numbers: RecordBatches
) -> Iterator[pa.RecordBatch]:
    """Read and decode the slices that Spark gives this task."""
    for batch in numbers:
        for number in batch["id"].to_pylist():
            for rows in read_captured(slices.value[number]):
                yield decode_batch(rows, bodies=target.bodies)


def decode_rows(
    target: WriteTarget, read: Callable[[RecordBatches], RecordBatches], rows: RecordBatches
) -> Iterator[pa.RecordBatch]:
    """Decode what `read` makes of the rows of a task: rows of CAPTURED."""
    for captured in read(rows):
        yield decode_batch(captured, bodies=target.bodies)


def write_rows(
    target: WriteTarget, read: Callable[[RecordBatches], RecordBatches], rows: RecordBatches
) -> Iterator[pa.RecordBatch]:
    """Write what `read` makes of the rows of a task: rows of CAPTURED."""
    yield encoded(write_captured(target, read(rows)))


def write_decoded(target: WriteTarget, decoded: RecordBatches) -> Iterator[pa.RecordBatch]:
    """Write rows of DECODED; those of a connection are in one task, in their order."""
    yield encoded(_write(target, decoded, -1))


def write_captured(target: WriteTarget, captured: RecordBatches, part: int = -1) -> Report:
    """Decode rows of CAPTURED and write the rows of all tables; return the report."""
    decoded = (decode_batch(batch, bodies=target.bodies) for batch in captured)
    return _write(target, decoded, part)


def _write(target: WriteTarget, decoded: RecordBatches, part: int) -> Report:
    report, course, clusters = Report(part=part), Course(), NamedClusters()
    tables = CapturedTables(target.tables)
    writing = TableFiles(target.output, target.ingest)
    with removed_if_given_up(target), writing as files:
        for batch in decoded:
            for table, rows in tables.take(batch):
                files.write(table, rows)
            course.follow(batch)
            clusters.update(named_clusters(batch))
            _count(report, batch)
        _keep(report, tables.halves(), target.staging)
    report.wrote(files)
    report.unbroken, report.ranges, report.stretches = (
        course.unbroken,
        course.ranges,
        course.stretches,
    )
    report.clusters = [(*named, count) for named, count in clusters.items()]
    return report


def settle(
    target: WriteTarget, watermark_us: int | None, halves: RecordBatches
) -> Iterator[pa.RecordBatch]:
    """Pair what is left of all slices, the rows of a connection in one task; yield the report.

    1. What has met is written.
    2. What is older than the watermark, in microseconds of Unix time, waits no longer; without a
       watermark nothing does.
    3. The rest is kept for the next batch of a stream.
    """
    paired = tuple(name for name in target.tables if name in PAIRED)
    report, tables = Report(), CapturedTables(paired)
    writing = TableFiles(target.output, target.ingest)
    with removed_if_given_up(target), writing as files:
        # 1.
        for batch in halves:
            for table, rows in tables.take(batch):
                files.write(table, rows)
        rest = tables.halves()
        if rest is not None and watermark_us is not None:
            at = rest["at"].cast(pa.int64())
            late = pc.fill_null(pc.less(at, watermark_us), True)
            # 3.
            _keep(report, rest.filter(pc.invert(late)), target.waiting)
            rest = rest.filter(late)
        # 2.
        if rest is not None and rest.num_rows:
            alone = CapturedTables(paired)
            for table, rows in (*alone.take(rest), *alone.finish()):
                files.write(table, rows)
    report.wrote(files)
    yield encoded(report)


def _keep(report: Report, halves: pa.RecordBatch | None, folder: str) -> None:
    """Write requests and responses without the other to a file of their own."""
    if halves is None or not halves.num_rows:
        return
    path = f"{folder}/halves-{uuid4().hex}.parquet"
    with new_file(path) as stream:
        pq.write_table(pa.Table.from_batches([halves]), stream, compression="zstd")
    Location.of(path).flush()
    report.halves = [path]
    report.half_rows = halves.num_rows


def _count(report: Report, decoded: pa.RecordBatch) -> None:
    """Count rows by status; keep the first sentences about damage."""
    lost = damage_texts(decoded)
    status = decoded["status"]
    report.read += decoded.num_rows
    frames = status.drop_null().value_counts().to_pylist()
    counts = {count["values"]: count["counts"] for count in frames}
    notices = {NOTICE: status.null_count - len(lost), DAMAGE: len(lost)}
    add_counts(report.counts, counts | notices)
    report.damaged += len(lost)
    report.damages += lost[: TOLD - len(report.damages)].to_pylist()
