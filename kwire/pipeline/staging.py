"""Staging: every task writes the frames it decodes to Parquet files of its own, and reports them.

All tables are made from these files. A frame is decoded once: a cached one would be decoded again
when an executor is lost, and could not be counted while it is made (docs/decisions/0022). Its bytes
do not leave the Python worker that decodes it, and its rows go into Parquet as the Arrow columns
that they are. Files of tasks that failed, or ran twice, are in no report, and so in no table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, BooleanType, LongType, MapType, StringType, StructType

from kwire.capture import NOTICE
from kwire.pipeline.ascending import Ascent, EventRange, do_not_overlap
from kwire.pipeline.decoding import DECODED, decode_batch
from kwire.pipeline.reading.captured import DAMAGE, read_captured
from kwire.pipeline.reading.planning import Slice
from kwire.pipeline.staged_files import StagedFiles

_TEXTS = ArrayType(StringType())
_RANGE = StructType().add("capture", StringType()).add("first", LongType()).add("last", LongType())
_REPORT = (
    StructType()
    .add("files", _TEXTS)
    .add("read", LongType())
    .add("written", LongType())
    .add("counts", MapType(StringType(), LongType()))
    .add("damages", _TEXTS)
    .add("unbroken", BooleanType())
    .add("ranges", ArrayType(_RANGE))
)
"""The report of a task, its only output through Spark."""


@dataclass(slots=True)
class Staged:
    """The files and counts of all tasks.

    files: URLs of Parquet files. read, written: rows. counts: rows by status, NOTICE or DAMAGE.
    damages: sentences, with file and offset. once: False if a frame may be there twice.
    """

    files: list[str] = field(default_factory=list)
    read: int = 0
    written: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    damages: list[str] = field(default_factory=list)
    once: bool = True

    def frame(self, spark: SparkSession, folder: str) -> DataFrame:
        """Return the rows of DECODED in the files, which are below the folder."""
        if not self.files:
            return spark.createDataFrame([], DECODED)
        # basePath: `paired=true` in the path is then a column, which DECODED has.
        return spark.read.schema(DECODED).option("basePath", folder).parquet(*self.files)


def stage_slices(
    spark: SparkSession, slices: Sequence[Slice], folder: str, *, bodies: bool
) -> Staged:
    """Read and decode slices, each in a task. folder: for the files. bodies: as JSON, too."""
    # One row, and one partition, a slice: Spark then schedules a slice as a task.
    tasks = spark.range(0, len(slices), 1, len(slices))
    return _staged(tasks.mapInArrow(partial(stage_in_task, slices, folder, bodies), _REPORT))


def stage_captured(captured: DataFrame, folder: str, *, bodies: bool) -> Staged:
    """Decode the rows of CAPTURED that Spark reads, for storage that only Spark reaches."""
    return _staged(captured.mapInArrow(partial(_stage, folder=folder, bodies=bodies), _REPORT))


def _staged(reports: DataFrame) -> Staged:
    staged, ranges = Staged(), list[EventRange]()
    for row in reports.collect():
        staged.files += row.files
        staged.read += row.read
        staged.written += row.written
        staged.counts.update(row.counts)
        staged.damages += row.damages
        staged.once = staged.once and row.unbroken
        ranges += [EventRange(*columns) for columns in row.ranges]
    staged.once = staged.once and do_not_overlap(ranges)
    return staged


def stage_in_task(
    slices: Sequence[Slice], folder: str, bodies: bool, tasks: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Read, decode and stage the slices that Spark gives this task; yield a report of each."""
    for numbers in tasks:
        for number in numbers["id"].to_pylist():
            yield from _stage(read_captured(slices[number]), folder=folder, bodies=bodies)


def _stage(
    batches: Iterable[pa.RecordBatch], *, folder: str, bodies: bool
) -> Iterator[pa.RecordBatch]:
    """Decode batches into files, and yield one row, the report."""
    read, counts, damages, ascent = 0, Counter[str](), list[str](), Ascent()
    with StagedFiles(folder) as files:
        for batch in batches:
            decoded = decode_batch(batch, bodies=bodies)
            files.write(decoded)
            read += batch.num_rows
            lost = decoded["text"].filter(pc.equal(decoded["notice"], DAMAGE)).to_pylist()
            damages += lost
            counts.update(_counts(decoded, len(lost)))
            ascent.follow(decoded)
    report = {
        "files": files.paths,
        "read": read,
        "written": files.rows,
        "counts": list(counts.items()),
        "damages": damages,
        "unbroken": ascent.unbroken,
        "ranges": [events._asdict() for events in ascent.ranges],
    }
    yield pa.RecordBatch.from_pylist([report], to_arrow_schema(_REPORT))


def _counts(decoded: pa.RecordBatch, damages: int) -> dict[str, int]:
    """Count frames by status, and notices: together every row."""
    status = decoded["status"]
    counts = status.drop_null().value_counts().to_pylist()
    frames = {count["values"]: count["counts"] for count in counts}
    return frames | {NOTICE: status.null_count - damages, DAMAGE: damages}
