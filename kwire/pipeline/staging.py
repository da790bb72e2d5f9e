"""Decoded frames on their way to the tables: every task writes files of its own, and tells of them.

The bytes of a frame do not leave the Python worker that decodes it, and its rows go into Parquet as
the columns that they are. Files of tasks that failed, or ran twice, are in nobody's answer.
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
from kwire.pipeline.ascending import Ascent, EventRange, apart
from kwire.pipeline.decoding import DECODED, decode_batch
from kwire.pipeline.reading.captured import DAMAGE, read_captured
from kwire.pipeline.reading.planning import Slice
from kwire.pipeline.staged_files import StagedFiles

_TEXTS = ArrayType(StringType())
_SPAN = StructType().add("capture", StringType()).add("first", LongType()).add("last", LongType())
_ANSWER = (
    StructType()
    .add("files", _TEXTS)
    .add("read", LongType())
    .add("written", LongType())
    .add("counts", MapType(StringType(), LongType()))
    .add("damages", _TEXTS)
    .add("unbroken", BooleanType())
    .add("spans", ArrayType(_SPAN))
)
"""What a task tells."""


@dataclass(slots=True)
class Staged:
    """What all tasks wrote.

    files: URLs of Parquet files. read, written: rows. counts: rows by status, NOTICE or DAMAGE.
    damages: sentences, with file and offset. once: no frame is there twice; else it may be.
    """

    files: list[str] = field(default_factory=list)
    read: int = 0
    written: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    damages: list[str] = field(default_factory=list)
    once: bool = True

    def frame(self, spark: SparkSession, folder: str) -> DataFrame:
        """The rows of DECODED in the files, which are below the folder."""
        if not self.files:
            return spark.createDataFrame([], DECODED)
        return spark.read.schema(DECODED).option("basePath", folder).parquet(*self.files)


def stage_slices(
    spark: SparkSession, slices: Sequence[Slice], folder: str, *, bodies: bool
) -> Staged:
    """Read and decode slices, each in a task. folder: for the files. bodies: as JSON, too."""
    tasks = spark.range(0, len(slices), 1, len(slices))
    return _staged(tasks.mapInArrow(partial(_stage_slices, slices, folder, bodies), _ANSWER))


def stage_captured(captured: DataFrame, folder: str, *, bodies: bool) -> Staged:
    """Decode the rows of CAPTURED that Spark reads."""
    return _staged(captured.mapInArrow(partial(_stage, folder=folder, bodies=bodies), _ANSWER))


def _staged(answers: DataFrame) -> Staged:
    found, spans = Staged(), list[EventRange]()
    for row in answers.collect():
        found.files += row.files
        found.read += row.read
        found.written += row.written
        found.counts.update(row.counts)
        found.damages += row.damages
        found.once = found.once and row.unbroken
        spans += [EventRange(*span) for span in row.spans]
    found.once = found.once and apart(spans)
    return found


def _stage_slices(
    slices: Sequence[Slice], folder: str, bodies: bool, tasks: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for numbers in tasks:
        for number in numbers["id"].to_pylist():
            yield from _stage(read_captured(slices[number]), folder=folder, bodies=bodies)


def _stage(
    batches: Iterable[pa.RecordBatch], *, folder: str, bodies: bool
) -> Iterator[pa.RecordBatch]:
    """Decode batches into files, and tell of them in one row."""
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
    answer = {
        "files": files.paths,
        "read": read,
        "written": files.rows,
        "counts": list(counts.items()),
        "damages": damages,
        "unbroken": ascent.unbroken,
        "spans": [span._asdict() for span in ascent.spans],
    }
    yield pa.RecordBatch.from_pylist([answer], to_arrow_schema(_ANSWER))


def _counts(decoded: pa.RecordBatch, damages: int) -> dict[str, int]:
    """Of frames by status, and of notices: together every row."""
    status = decoded["status"]
    found = status.drop_null().value_counts().to_pylist()
    frames = {one["values"]: one["counts"] for one in found}
    return frames | {NOTICE: status.null_count - damages, DAMAGE: damages}
