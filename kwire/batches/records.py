"""All records of a batch of format 2, read and written by the fastest engine there is.

The native engine takes many at once. What it cannot take, record.py reads or writes one by one, and
has the words for what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from kwire.batches.record import (
    NO_OFFSET,
    NO_TIMESTAMP,
    Record,
    RecordReader,
    append_record,
)
from kwire.codec import engine_choice
from kwire.errors import BatchError

if TYPE_CHECKING:
    from kwire.batches.native import Engine


def _native() -> Engine | None:
    try:
        from kwire.batches.native import ENGINE
    except ImportError:
        return None
    return ENGINE


ENGINE = _native()
"""The native engine; None where it was not built."""

AT_ONCE = 1024
"""Records that are read before the first of them is given: the least that makes calls cheap.

A few bytes may claim to be millions of records, of which the caller need not keep any.
"""


class WrittenRecords(NamedTuple):
    """The bytes of records, and what the header of their batch tells of them.

    base_timestamp: what theirs are relative to. latest: the greatest.
    """

    number: int
    body: bytes
    base_timestamp: int
    last_offset: int
    latest: int


def read_records(
    data: bytes, start: int, count: int, reader: RecordReader
) -> Iterator[Sequence[Record]]:
    """Yield the records from `start` to the end of the data, some at once.

    Raises BatchError, with an offset that counts from `start`, after those before a malformed one,
    or if bytes are left over.
    """
    position = start
    if ENGINE is not None and engine_choice.allows_native():
        while count > 0:
            wanted = min(count, AT_ONCE)
            read = ENGINE.read(data, position, wanted, *reader)
            if read is None:
                break
            records, position = read
            count -= wanted
            yield records
        if not count and position == len(data):
            return
    data, position = data[start:], position - start
    for _ in range(count):
        record, position = reader.read(data, position)
        yield (record,)
    if position != len(data):
        left = len(data) - position
        raise BatchError(f"{left} bytes behind the last record", offset=position)


def write_records(
    records: Iterable[Record], base_offset: int, base_timestamp: int | None
) -> WrittenRecords:
    """Return the records as format 2 has them, each at its own offset or one after the last.

    base_timestamp: by default that of the first record. Raises ValueError for attributes that are
    no byte.
    """
    records = list(records)
    if ENGINE is not None and engine_choice.allows_native():
        written = ENGINE.write(records, base_offset, base_timestamp)
        if written is not None:
            return WrittenRecords(len(records), *written)
    records = numbered_from(base_offset, records)
    if base_timestamp is None:
        base_timestamp = records[0].timestamp if records else NO_TIMESTAMP
    body = bytearray()
    for record in records:
        append_record(body, record, record.offset - base_offset, record.timestamp - base_timestamp)
    last_offset = records[-1].offset if records else base_offset
    newest = latest(records)
    return WrittenRecords(len(records), bytes(body), base_timestamp, last_offset, newest)


def numbered_from(base_offset: int, records: Iterable[Record]) -> list[Record]:
    """Return the records, each with an offset: its own, or one more than the last."""
    numbered = []
    offset = base_offset
    for record in records:
        if record.offset == NO_OFFSET:
            record = msgspec.structs.replace(record, offset=offset)
        offset = record.offset + 1
        numbered.append(record)
    return numbered


def latest(records: Iterable[Record]) -> int:
    """Return the greatest timestamp."""
    return max((record.timestamp for record in records), default=NO_TIMESTAMP)
