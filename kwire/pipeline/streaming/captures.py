"""A stream of the records of a folder in which captures appear.

Spark lists the folder and remembers the files of each batch: a capture has its name only when it is
whole, so that no file is read too early.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import fsspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from kwire.capture import Damage
from kwire.pipeline.decoding import CAPTURED
from kwire.pipeline.reading.captured import read_captured
from kwire.pipeline.reading.planning import SPLIT, Slice
from kwire.pipeline.reading.storage import File, FileKind, NothingToRead, files_in

FILES = 16
"""Captures in one batch, by default."""

ANY_AGE = "36500d"
"""Spark passes over files that are a week older than the newest it has seen, and says nothing: a
capture that is copied, or moved, into the folder may have any time of modification.
"""

_FOUND = "path string, modificationTime timestamp, length bigint, content binary"


def ensure_folder(path: str) -> None:
    """Raise NothingToRead unless a path is a folder; it may be empty yet."""
    filesystem, inside = fsspec.core.url_to_fs(path)
    if not filesystem.isdir(inside):
        raise NothingToRead(f"{path} is no folder: give the one that kwire proxy -w records in.")


def empty_captures(path: str) -> list[str]:
    """Return a sentence for each empty file with the name of a capture: Spark passes over those."""
    return [
        str(Damage(file=file.path, offset=0, size=0, reason="no capture: it is empty"))
        for file in files_in(path)
        if file.kind is FileKind.CAPTURE and not file.size
    ]


def follow_captures(
    spark: SparkSession, folder: str, *, files: int = FILES, split: int = SPLIT
) -> DataFrame:
    """Return the rows of CAPTURED of every capture that is, or will be, in a folder, or URL.

    files: in one batch. split: bytes of a file that one task reads. Spark gives names
    and sizes alone; the content is read as `format("kwire")` reads it.
    """
    reader = spark.readStream.format("binaryFile").schema(_FOUND)
    stream = reader.option("pathGlobFilter", "*.avro").option("maxFilesPerTrigger", files)
    stream = stream.option("maxFileAge", ANY_AGE)
    starts = f.sequence(f.lit(0), f.greatest(f.col("length") - 1, f.lit(0)), f.lit(split))
    stop = f.least("length", f.col("start") + split)
    slices = (
        stream.load(folder)
        .select("path", "length", f.explode(starts).alias("start"))
        .select("path", "length", "start", stop.alias("stop"))
    )
    # Spark would read the slices of one file in one task.
    return slices.repartition(f.col("path"), f.col("start")).mapInArrow(_read, CAPTURED)


def _read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            file = File(FileKind.CAPTURE, row["path"].removeprefix("file:"), row["length"])
            yield from read_captured(Slice(file, row["start"], row["stop"]))
