"""The statistics of a file, as a commit of Delta carries them: readers skip files by them.

They are of all columns but lists, or there are none: a dataset of delta-rs takes a column without
them for null, or for never null, in the whole file, and a filter finds no rows, without an error
(docs/decisions/0087-table-format.md). So a column has bounds that hold for any value, unless its
own are worth their place in the log; and a table with structs has none, whose fields are hundreds.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from kwire.pipeline.schemas import file_schema_of

ColumnBounds = dict[str, int | str]
"""The least, or the greatest value of columns that are not all null, as JSON has it."""

LONGEST = 100
"""Letters of a text that stands in the log."""

_MILLISECOND = timedelta(milliseconds=1)
_TEXTS = ("", "\U0010ffff" * 4)
_TIMES = ("0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z")
_DOUBLES = (-1.7976931348623157e308, 1.7976931348623157e308)


def bounds_in(metadata: pq.FileMetaData, names: Sequence[str]) -> tuple[ColumnBounds, ColumnBounds]:
    """Return the least and the greatest values of these columns, by the footer of a file."""
    least: ColumnBounds = {}
    greatest: ColumnBounds = {}
    for name, column in _columns(metadata, names):
        groups = [metadata.row_group(n).column(column) for n in range(metadata.num_row_groups)]
        found = [chunk.statistics for chunk in groups if chunk.is_stats_set]
        known = [one for one in found if one.has_min_max]
        # A group without bounds has only nulls, or values that are too long.
        if known and sum(one.num_values + one.null_count for one in known) == metadata.num_rows:
            low, high = min(one.min for one in known), max(one.max for one in known)
            if not isinstance(low, str) or max(len(low), len(high)) <= LONGEST:
                least[name], greatest[name] = _plain(low, up=False), _plain(high, up=True)
    return least, greatest


def _columns(metadata: pq.FileMetaData, names: Sequence[str]) -> list[tuple[str, int]]:
    places = {metadata.schema.column(n).path: n for n in range(metadata.num_columns)}
    return [(name, places[name]) for name in names if name in places]


def _plain(value: int | str | datetime, *, up: bool) -> int | str:
    """Return a value for JSON; times in whole milliseconds, as Delta asks for."""
    if not isinstance(value, datetime):
        return value
    at = value if value.tzinfo else value.replace(tzinfo=UTC)
    rest = timedelta(microseconds=at.microsecond % 1000)
    whole = at - rest + (_MILLISECOND if up and rest else timedelta())
    return whole.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def statistics(
    table: str, rows: int, nulls: Sequence[int], least: ColumnBounds, greatest: ColumnBounds
) -> str:
    """Return the statistics of a file in JSON. nulls: by column; empty if they are not known."""
    found: dict[str, object] = {"numRecords": rows}
    if nulls and (lowest := _bounds_of_types(table, 0)):
        found["minValues"] = lowest | least
        found["maxValues"] = _bounds_of_types(table, 1) | greatest
        counts = zip(file_schema_of(table).names, nulls, strict=True)
        found["nullCount"] = {name: count for name, count in counts if name in lowest}
    return msgspec.json.encode(found).decode()


@cache
def _bounds_of_types(table: str, side: int) -> dict[str, object]:
    """Return bounds of all columns of a table, 0 for the least; of none if some are structs."""
    schema = file_schema_of(table)
    if any(pa.types.is_struct(field.type) for field in schema):
        return {}
    bounds = {field.name: _wide(field.type) for field in schema}
    return {name: sides[side] for name, sides in bounds.items() if sides is not None}


def _wide(kind: pa.DataType) -> tuple[object, object] | None:
    """Return bounds that hold for any value; None for lists, which need none."""
    if pa.types.is_integer(kind):
        return -(1 << (kind.bit_width - 1)), (1 << (kind.bit_width - 1)) - 1
    if pa.types.is_string(kind):
        return _TEXTS
    if pa.types.is_timestamp(kind):
        return _TIMES
    if pa.types.is_floating(kind):
        return _DOUBLES
    if pa.types.is_boolean(kind):
        return False, True
    return None
