"""Plans the ranges of bytes that tasks read, so that a large file is the work of many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kwire.batches.compression import LIMIT_IN_USE, Limit
from kwire.capture.reading import NewerCapture, read_info
from kwire.errors import FileError
from kwire.logdir.indexes import read_offset_index
from kwire.logdir.names import OFFSET_INDEX_SUFFIX, SEGMENT_SUFFIX, segment_offset
from kwire.pipeline.arrow_tasks import map_batches
from kwire.pipeline.reading.storage import File, FileKind, open_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPLIT = 16 * 1024 * 1024
"""Bytes of a file that one task reads, of a small ingest."""

MOST = 128 * 1024 * 1024
"""The same of a large one: every task writes files of its own, and few large ones are better."""

TASKS = 128
"""Tasks from which on slices grow."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of a file that begins in start <= offset < stop.

    limit: of what a batch may unpack to, that of the process that planned it.
    """

    file: File
    start: int
    stop: int
    limit: Limit = field(default_factory=LIMIT_IN_USE.get)


def plan(files: Iterable[File], split: int = SPLIT) -> list[Slice]:
    """Cut the files into slices that can be read independently. Raises NewerCapture.

    Captures are cut anywhere: a reader goes on to the next sync marker. Segments are cut where
    their index knows a batch. Packets and snapshots are read as one, and so is a file that has
    the name of a capture and is none: its reader reports it.
    """
    return [part for file in files for part in _slices(file, split)]


def split_for(size: int) -> int:
    """Return the bytes of a slice for so many bytes of files."""
    return min(MOST, max(SPLIT, size // TASKS))


def plan_in_tasks(spark: SparkSession, files: Sequence[File], split: int) -> list[Slice]:
    """Plan as `plan` does, with the headers opened by tasks. Raises PythonException."""
    shared = spark.sparkContext.broadcast(list(files))
    tasks = spark.range(0, len(files), 1, min(len(files), TASKS))
    columns = "file long, start long, stop long"
    edges = map_batches(tasks, partial(_edges, shared, split), columns)
    return [
        Slice(files[row.file], row.start, row.stop)
        for row in edges.orderBy("file", "start").toLocalIterator()
    ]


def _edges(shared: Any, split: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        numbers = batch["id"].to_pylist()
        parts = [
            (number, part) for number in numbers for part in _slices(shared.value[number], split)
        ]
        yield pa.RecordBatch.from_pydict(
            {
                "file": pa.array([number for number, _ in parts], pa.int64()),
                "start": pa.array([part.start for _, part in parts], pa.int64()),
                "stop": pa.array([part.stop for _, part in parts], pa.int64()),
            }
        )


def _slices(file: File, split: int) -> Iterator[Slice]:
    edges = [0]
    if file.kind is FileKind.CAPTURE:
        try:
            with open_file(file.path) as opened:
                read_info(opened, file.path)
            # At any byte: a reader begins at the next sync marker and ends with its last block.
            edges = list(range(0, file.size, split))
        except NewerCapture:
            raise
        except FileError:
            edges = [0]
    elif file.kind is FileKind.SEGMENT and file.size > split:
        edges = _batches(file, split)
    for start, stop in zip(edges, [*edges[1:], file.size], strict=True):
        yield Slice(file, start, stop)


def _batches(file: File, split: int) -> list[int]:
    """Return the positions of batches about `split` bytes apart, from the segment's index."""
    base = segment_offset(file.name)
    assert base is not None, f"{file.path} is no segment"
    path = file.path.removesuffix(SEGMENT_SUFFIX) + OFFSET_INDEX_SUFFIX
    edges = [0]
    try:
        with open_file(path) as opened:
            index = opened.read()
    except FileNotFoundError:
        return edges  # batches have no marker by which to find one in the middle of a segment
    for _, position in read_offset_index(index, base):
        if edges[-1] + split <= position < file.size:
            edges.append(position)
    return edges
