"""One record, and how format 2 writes it: deltas and sizes as varints (KIP-82, KIP-98)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import NamedTuple

import msgspec

from kwire.batches.varint import append_varint, read_varint, read_varlong
from kwire.errors import BatchError

NO_TIMESTAMP = -1
NO_SEQUENCE = -1
NO_OFFSET = -1


class TimestampType(IntEnum):
    """The setter of timestamps: nobody (format 0), the producer, or the broker (KIP-32)."""

    NO_TIMESTAMP_TYPE = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class RecordHeader(msgspec.Struct, frozen=True, gc=False):
    """A header of a record: a key that may occur again, a value that may be null (KIP-82)."""

    key: str
    value: bytes | None


class Record(msgspec.Struct, frozen=True, gc=False):
    """A record as its reader sees it; msgspec since a log has millions of them.

    offset: in the partition; NO_OFFSET in one that is to be built: one more than the last.
    timestamp: milliseconds since 1970, that of the batch where the broker sets it.
    sequence: of an idempotent producer (KIP-98), else NO_SEQUENCE.
    attributes: unused by Kafka, kept as read.
    """

    value: bytes | None
    key: bytes | None = None
    offset: int = NO_OFFSET
    timestamp: int = NO_TIMESTAMP
    headers: tuple[RecordHeader, ...] = ()
    sequence: int = NO_SEQUENCE
    attributes: int = 0


_NULL = 1
"""The one byte that nearly every null has: the varint of -1."""


def next_sequence(base: int, delta: int) -> int:
    """Sequences are 31 bits and begin again at 0; without a base there are none."""
    return NO_SEQUENCE if base < 0 else (base + delta) & 0x7FFF_FFFF


class RecordReader(NamedTuple):
    """Reads the records of one batch, whose header fields they are relative to.

    append_time: what the broker set for all of them, None where the producer's times count.
    """

    base_offset: int
    base_timestamp: int
    base_sequence: int
    append_time: int | None

    def read(self, data: bytes, start: int) -> tuple[Record, int]:
        """Return the record at `start` and the position after it.

        Raises BatchError if it is malformed.
        """
        try:
            size, position = _varint(data, start)
            end = position + size
            # A size is checked before anything is read by it: slices would be cut silently.
            if not position < end <= len(data):
                reason = f"a record of {size} bytes, {len(data) - position} left"
                raise BatchError(reason, offset=start)
            return self._read(data, position, end), end
        except IndexError:
            raise BatchError("the record is cut off", offset=start) from None

    def _read(self, data: bytes, position: int, end: int) -> Record:
        attributes = data[position]
        timestamp, position = _varint(data, position + 1, read_varlong)
        delta, position = _varint(data, position)
        key = None
        if data[position] == _NULL:
            position += 1
        else:
            size, position = _varint(data, position)
            if size >= 0:
                key = data[position : position + size]
                position += size
        size, position = _varint(data, position)
        value = None
        if size >= 0:
            value = data[position : position + size]
            position += size
        if position >= end:
            raise BatchError("key and value reach behind the record", offset=position)
        # Most records have no headers: their count is then the last byte of the record, and it is
        # 0.
        headers = _read_headers(data, position, end) if position + 1 < end or data[position] else ()
        append_time, base = self.append_time, self.base_sequence
        return Record(
            value,
            key,
            self.base_offset + delta,
            self.base_timestamp + timestamp if append_time is None else append_time,
            headers,
            NO_SEQUENCE if base < 0 else next_sequence(base, delta),
            attributes,
        )


def _varint(
    data: bytes, position: int, longer: Callable[[bytes, int], tuple[int, int]] = read_varint
) -> tuple[int, int]:
    """Return a varint of one or two bytes, by far the most frequent, or what `longer` reads."""
    byte = data[position]
    if byte < 0x80:
        return byte >> 1 ^ -(byte & 1), position + 1
    second = data[position + 1]
    if second < 0x80:
        value = byte & 0x7F | second << 7
        return value >> 1 ^ -(value & 1), position + 2
    return longer(data, position)


def _read_sized(data: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    """Return bytes after their size, which is negative for null."""
    size, position = _varint(data, position)
    if size < 0:
        return None, position
    if size > end - position:
        raise BatchError(f"{size} bytes claimed, {end - position} left", offset=position)
    return data[position : position + size], position + size


def _read_headers(data: bytes, position: int, end: int) -> tuple[RecordHeader, ...]:
    count, position = read_varint(data, position)
    if not 0 <= count <= end - position:
        raise BatchError(f"{count} headers, {end - position} bytes left", offset=position)
    headers = []
    for _ in range(count):
        key, behind = _read_sized(data, position, end)
        if key is None:
            raise BatchError("the key of a header is null", offset=position)
        value, position = _read_sized(data, behind, end)
        headers.append(RecordHeader(key.decode("utf-8", "surrogateescape"), value))
    if position != end:
        raise BatchError(f"{end - position} bytes left over in a record", offset=position)
    return tuple(headers)


def append_record(target: bytearray, record: Record, offset_delta: int, time_delta: int) -> None:
    """Write a record as format 2 has it."""
    body = bytearray([record.attributes])
    append_varint(body, time_delta)
    append_varint(body, offset_delta)
    _append_sized(body, record.key)
    _append_sized(body, record.value)
    _append_headers(body, record.headers)
    append_varint(target, len(body))
    target += body


def _append_headers(target: bytearray, headers: Iterable[RecordHeader]) -> None:
    headers = tuple(headers)
    append_varint(target, len(headers))
    for header in headers:
        _append_sized(target, header.key.encode("utf-8", "surrogateescape"))
        _append_sized(target, header.value)


def _append_sized(target: bytearray, data: bytes | None) -> None:
    if data is None:
        target.append(1)
    else:
        append_varint(target, len(data))
        target += data
