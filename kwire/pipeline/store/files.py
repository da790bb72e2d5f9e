"""Writes rows of tables to Parquet files where they stay; a commit makes them part of a table.

Nothing is renamed or moved afterwards, which an object store could not do: until a commit names a
file, no reader of the table sees it, and what a failed task wrote is never named.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Self, cast
from uuid import uuid4

import fsspec
import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kwire.pipeline.schemas import INGEST, TABLES, file_schema_of
from kwire.pipeline.store.location import Location, new_file
from kwire.pipeline.store.statistics import bounds_in

ROW_GROUP_ROWS = 128 * 1024
ROW_GROUP_BYTES = 32 * 1024 * 1024
"""Rows, and bytes in memory, from which on the rows of a file are written out as a row group."""

MOST_OPEN = 24
"""Files that a task keeps open: a capture is of few hours, but its times may be anything."""

NULL = "__HIVE_DEFAULT_PARTITION__"
"""The name of a folder of rows without a date."""

INGESTED = re.compile(r"part-[0-9a-f]{32}-[0-9a-f]{32}\.parquet")
"""Names of the files that `TableFiles` writes: the id of the ingest, and one of the file."""

_HOUR_US = 3_600_000_000
BOUNDED = ("capture", "event", "at", "api_key", "log", "offset", "epoch")
"""Columns that readers select by: statistics of all fields of structs cost more than they save."""


class TableFile(msgspec.Struct, frozen=True):
    """A file for a table. path: below the table's folder. size: bytes. date, hour: its folder.

    nulls: their number in each column; empty if they were not counted. least, greatest: see
    `kwire.pipeline.store.statistics`.
    """

    table: str
    path: str
    size: int
    rows: int
    date: str | None = None
    hour: int | None = None
    nulls: list[int] = []
    least: dict[str, int | str] = {}
    greatest: dict[str, int | str] = {}


class TableFiles:
    """Writes rows of any tables for one ingest, in one task.

    files: that were written, when the context has ended. rows: by table. failed: failed verdicts,
    by check. A file has the id of its ingest in its name, so that those of one that failed are
    found again.
    """

    def __init__(self, output: str, ingest: str) -> None:
        self._output, self._ingest = output, ingest
        self._open: dict[tuple[str, int | None], _OpenFile] = {}
        self.files: list[TableFile] = []
        self.rows: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def write(self, table: str, rows: pa.RecordBatch) -> None:
        """Append rows, with or without `date` and `hour`, to the files of their hours."""
        rows = _as_written(rows, file_schema_of(table), self._ingest)
        self.rows[table] += rows.num_rows
        if table == "verdicts":
            self._count_failures(rows)
        dated = "date" in TABLES[table].names
        for hour, of_hour in _by_hour(rows) if dated else [(None, rows)]:
            self._file(table, hour).write(of_hour)

    def _count_failures(self, verdicts: pa.RecordBatch) -> None:
        failed = verdicts["check"].filter(pc.invert(verdicts["passed"]))
        for count in failed.value_counts().to_pylist():
            self.failed[count["values"]] += count["counts"]

    def _file(self, table: str, hour: int | None) -> _OpenFile:
        key = table, hour
        file = self._open.pop(key, None)
        if file is None:
            if len(self._open) >= MOST_OPEN:
                # Used least recently: every use puts a file at the end.
                self._close(next(iter(self._open)))
            file = _OpenFile(self._output, table, hour, self._ingest)
        self._open[key] = file
        return file

    def _close(self, key: tuple[str, int | None]) -> None:
        self.files.append(self._open.pop(key).close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            for key in list(self._open):
                self._close(key)
        for file in self._open.values():
            file.abandon()


def _as_written(rows: pa.RecordBatch, schema: pa.Schema, ingest: str) -> pa.RecordBatch:
    arrays = [
        pa.repeat(ingest, rows.num_rows) if field.name == INGEST.name else rows[field.name]
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(
        [
            array if array.type == field.type else array.cast(field.type)
            for array, field in zip(arrays, schema, strict=True)
        ],
        schema=schema,
    )


def _by_hour(rows: pa.RecordBatch) -> list[tuple[int | None, pa.RecordBatch]]:
    """Cut rows by the hour of `at`, in hours of Unix time; None if there is no time."""
    at = rows["at"].cast(pa.int64())
    if not at.null_count and rows.num_rows:
        first, last = _bounds(at)
        if first == last:
            return [(first, rows)]
    hours = np.floor_divide(at.fill_null(0).to_numpy(zero_copy_only=False), _HOUR_US)
    there = at.is_valid().to_numpy(zero_copy_only=False)
    parts: list[tuple[int | None, pa.RecordBatch]] = [
        (int(hour), rows.filter(pa.array((hours == hour) & there)))
        for hour in np.unique(hours[there])
    ]
    if not there.all():
        parts.append((None, rows.filter(pa.array(~there))))
    return parts


def _bounds(at: pa.Array) -> tuple[int, int]:
    bounds = pc.min_max(at)
    return bounds["min"].as_py() // _HOUR_US, bounds["max"].as_py() // _HOUR_US


@dataclass(slots=True)
class _OpenFile:
    """One file, and the rows for its next row group."""

    output: str
    table: str
    hour: int | None
    ingest: str
    _waiting: list[pa.RecordBatch] = field(default_factory=list)
    _rows: int = 0
    _bytes: int = 0
    _written: int = 0
    _path: str = field(init=False)
    _stream: Any = field(init=False, default=None)
    _writer: pq.ParquetWriter | None = field(init=False, default=None)
    _nulls: list[int] = field(init=False, default_factory=list)
    _metadata: list[pq.FileMetaData] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        name = f"part-{self.ingest}-{uuid4().hex}.parquet"
        dated = "date" in TABLES[self.table].names
        self._path = f"{self._folder()}/{name}" if dated else name

    def write(self, rows: pa.RecordBatch) -> None:
        self._waiting.append(rows)
        self._rows += rows.num_rows
        self._bytes += rows.nbytes
        counts = [column.null_count for column in rows.columns]
        self._nulls = [sum(both) for both in zip_longest(self._nulls, counts, fillvalue=0)]
        if self._rows >= ROW_GROUP_ROWS or self._bytes >= ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> TableFile:
        """Write what waits; return what a commit has to say of the file."""
        self._flush()
        assert self._writer is not None
        self._writer.close()
        self._stream.close()
        Location.of(self.output).flush(self.table, self._path)
        date, hour = self._partition()
        filesystem, path = fsspec.core.url_to_fs(f"{self.output}/{self.table}/{self._path}")
        size = int(filesystem.size(path))
        bounds = bounds_in(self._metadata[0], BOUNDED)
        return TableFile(
            self.table, self._path, size, self._written, date, hour, self._nulls, *bounds
        )

    def abandon(self) -> None:
        """Close the file without an end; nothing names it."""
        for closing in (self._writer, self._stream):
            if closing is not None:
                with suppress(Exception):  # the first error is the one to report
                    closing.close()

    def _flush(self) -> None:
        rows = pa.Table.from_batches(self._waiting, file_schema_of(self.table))
        if self._writer is None:
            self._writer = self._begin()
        self._writer.write_table(rows, row_group_size=max(rows.num_rows, 1))
        self._written += rows.num_rows
        self._waiting, self._rows, self._bytes = [], 0, 0

    def _begin(self) -> pq.ParquetWriter:
        self._stream = new_file(f"{self.output}/{self.table}/{self._path}")
        schema = file_schema_of(self.table)
        statistics = [name for name in BOUNDED if name in schema.names]
        return pq.ParquetWriter(
            self._stream,
            schema,
            compression="zstd",
            write_statistics=cast(bool, statistics),
            metadata_collector=self._metadata,
        )

    def _folder(self) -> str:
        date, hour = self._partition()
        return f"date={date or NULL}/hour={NULL if hour is None else hour}"

    def _partition(self) -> tuple[str | None, int | None]:
        if self.hour is None:
            return None, None
        days, hour = divmod(self.hour, 24)
        return str(np.datetime64(days, "D")), hour
