"""A stream of the records of a folder in which captures appear.

Spark lists the folder and remembers the files of each batch: a capture has its name only when it is
whole, so that no file is read too early.
"""

from __future__ import annotations

from functools import partial

import fsspec
from pyspark.sql import DataFrame, SparkSession

from kwire.capture import Damage
from kwire.pipeline.reading.planning import plan
from kwire.pipeline.reading.storage import File, FileKind, NothingToRead, files_in
from kwire.pipeline.store.location import absolute, of_hadoop
from kwire.pipeline.streaming.job import StreamSource
from kwire.pipeline.writing.captures import SliceWork, Work

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


def captures(spark: SparkSession, folder: str, *, files: int = FILES) -> StreamSource:
    """Return the captures that are, or will be, in a folder, or URL. files: in one batch."""
    return StreamSource(_follow(spark, folder, files), partial(_work, folder=folder))


def _follow(spark: SparkSession, folder: str, files: int) -> DataFrame:
    """Return path and length of every capture: Spark lists files, and tasks of ours read them."""
    reader = spark.readStream.format("binaryFile").schema(_FOUND)
    stream = reader.option("pathGlobFilter", "*.avro").option("maxFilesPerTrigger", files)
    stream = stream.option("maxFileAge", ANY_AGE)
    return stream.load(of_hadoop(absolute(folder))).select("path", "length")


def _work(rows: DataFrame, folder: str) -> Work:
    """Return the work of a batch. Raises NewerCapture."""
    scheme = folder.partition("://")[0] if "://" in folder else "file"
    files = [
        File(FileKind.CAPTURE, _path(row["path"], scheme), row["length"]) for row in rows.collect()
    ]
    return SliceWork(rows.sparkSession, plan(sorted(files, key=lambda file: file.path)))


def _path(found: str, scheme: str) -> str:
    """Return a path as fsspec takes it: Spark's may have another scheme."""
    if scheme == "file":
        return found.removeprefix("file://").removeprefix("file:")
    return f"{scheme}://{found.partition('://')[2]}"
