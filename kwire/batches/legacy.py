"""Message formats 0 and 1 (KIP-31, KIP-32): every message is a batch of its own.

A compressed one wraps messages in its value. Its offset is that of the last of them; theirs count
from 0 in format 1 and are absolute in format 0.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from zlib import crc32

import construct
from construct import Int8sb, Int32sb, Int32ub, Int64sb
from msgspec import Struct

from kwire.batches.compression import Compression, Limit, decompress, known
from kwire.batches.current import APPEND_TIME, COMPRESSION
from kwire.batches.layout import MAGIC, PREFIX, START, START_LAYOUT, packed
from kwire.batches.record import NO_SEQUENCE, NO_TIMESTAMP, Record, TimestampType
from kwire.errors import BatchError

HEADER_V0 = construct.Struct(
    *START.subcons,
    "crc" / Int32ub,
    "magic" / Int8sb,
    "attributes" / Int8sb,
)
HEADER_V1 = construct.Struct(*HEADER_V0.subcons, "timestamp" / Int64sb)
"""The header of a message; key and value follow, each after an int32 size. `crc` covers the bytes
after itself."""

LAYOUTS = (packed(HEADER_V0), packed(HEADER_V1))
CHECKED: int = construct.Struct(*HEADER_V0.subcons[:3]).sizeof()
LEAST: int = LAYOUTS[0].size - PREFIX + 2 * Int32sb.sizeof()
"""The smallest `length`: format 0, null key, null value."""


class LegacyBatch(Struct, frozen=True, kw_only=True, gc=False):
    """One message of format 0 or 1, or several that one wraps; properties as RecordBatch has them.

    data: the whole message, offset and length included; timestamp: -1 in format 0.
    """

    data: bytes
    magic: int
    offset: int
    crc: int
    attributes: int
    timestamp: int

    partition_leader_epoch = -1
    producer_id = -1
    producer_epoch = -1
    base_sequence = NO_SEQUENCE
    last_sequence = NO_SEQUENCE
    is_transactional = False
    is_control = False
    delete_horizon = None

    @classmethod
    def read(cls, data: bytes) -> LegacyBatch:
        """Return the message that `data` is, unchecked but for its size."""
        # Magic and attributes, a byte each, end the header of format 0.
        magic = data[LAYOUTS[0].size - 2]
        layout = LAYOUTS[magic]
        if len(data) < layout.size + 8:
            raise BatchError(f"{len(data)} bytes are too few for a message of format {magic}")
        offset, _, crc, _, attributes, *timestamp = layout.unpack_from(data)
        return cls(
            data=data,
            magic=magic,
            offset=offset,
            crc=crc,
            attributes=attributes,
            timestamp=timestamp[0] if timestamp else NO_TIMESTAMP,
        )

    def check(self) -> None:
        """BatchError unless the CRC-32 fits."""
        crc = crc32(memoryview(self.data)[CHECKED:])
        if crc != self.crc:
            raise BatchError(f"the CRC is {crc:08x}, {self.crc:08x} is written", offset=CHECKED)

    def records(self, limit: Limit | None = None) -> Iterator[Record]:
        """Yield the message, or those that it wraps, their CRCs checked."""
        key, value = self._key_and_value()
        if not self.attributes & COMPRESSION:
            yield Record(key=key, value=value, offset=self.offset, timestamp=self.timestamp)
            return
        # With LogAppendTime the broker sets the time of the wrapper alone (KIP-32).
        data = self._unpacked(value, limit)
        base = self._base(data)
        for start, end in _wrapped(data):
            message = LegacyBatch.read(data[start:end])
            message.check()
            if message.attributes & COMPRESSION:
                raise BatchError("a compressed message within another", offset=start)
            key, value = message._key_and_value()
            yield Record(
                key=key,
                value=value,
                offset=base + message.offset,
                timestamp=self.timestamp if self._append_time else message.timestamp,
            )

    def _unpacked(self, value: bytes | None, limit: Limit | None) -> bytes:
        """Return the messages that this one wraps. They may be millions: none is kept."""
        if value is None:
            raise BatchError("a compressed message without a value")
        if self.attributes & COMPRESSION == Compression.ZSTD:
            raise BatchError(f"format {self.magic} has no zstd (KIP-110)")
        data = decompress(value, self.attributes & COMPRESSION, magic=self.magic, limit=limit)
        if message_end(data, 0) is None:
            raise BatchError("a compressed message that wraps none")
        return data

    def _base(self, data: bytes) -> int:
        """Return the number to add to wrapped offsets.

        Old librdkafka leaves 0 as the wrapper's own.
        """
        if self.magic == 0 or self.offset == 0:
            return 0
        ((start, _),) = deque(_wrapped(data), maxlen=1)
        last: int = START_LAYOUT.unpack_from(data, start)[0]
        if self.offset < last:
            raise BatchError(f"wraps offsets up to {last}, its own is {self.offset}")
        return self.offset - last

    def _key_and_value(self) -> tuple[bytes | None, bytes | None]:
        """Return key and value; bytes after them are ignored, as Kafka does."""
        key, position = self._sized(LAYOUTS[self.magic].size)
        return key, self._sized(position)[0]

    def _sized(self, position: int) -> tuple[bytes | None, int]:
        start = position + 4
        if start > len(self.data):
            raise BatchError("a size is cut off", offset=position)
        size = int.from_bytes(self.data[position:start], "big", signed=True)
        if size < 0:
            return None, start
        if start + size > len(self.data):
            left = len(self.data) - start
            raise BatchError(f"{size} bytes claimed, {left} left", offset=position)
        return self.data[start : start + size], start + size

    @property
    def _append_time(self) -> bool:
        return self.magic == 1 and bool(self.attributes & APPEND_TIME)

    @property
    def size(self) -> int:
        """The size in bytes, offset and length included."""
        return len(self.data)

    @property
    def base_offset(self) -> int:
        """Offset of the first record: a compressed message has to be unpacked for it."""
        if not self.attributes & COMPRESSION:
            return self.offset
        data = self._unpacked(self._key_and_value()[1], None)
        first, _ = START_LAYOUT.unpack_from(data)
        return int(self._base(data) + first)

    @property
    def last_offset(self) -> int:
        """Offset of the last record."""
        return self.offset

    @property
    def max_timestamp(self) -> int:
        """The message's own, which in a wrapper is the greatest of them."""
        return self.timestamp

    @property
    def compression(self) -> int:
        """A Compression, or a number that Kafka does not know either."""
        return known(self.attributes & COMPRESSION)

    @property
    def timestamp_type(self) -> TimestampType:
        """The setter of the timestamps, as the attributes say."""
        if self.magic == 0:
            return TimestampType.NO_TIMESTAMP_TYPE
        return TimestampType(self._append_time)


def _wrapped(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each of the unpacked messages begins and ends."""
    start = 0
    while (end := message_end(data, start)) is not None:
        yield start, end
        start = end


def message_end(data: bytes, position: int) -> int | None:
    """Return the end of the message of format 0 or 1 at `position`.

    None if the bytes end before.
    """
    if len(data) - position < PREFIX:
        return None
    _, length = START_LAYOUT.unpack_from(data, position)
    if length < LEAST:
        raise BatchError(f"a length of {length}, at least {LEAST} wanted", offset=position)
    end: int = position + PREFIX + length
    if end > len(data):
        return None
    if data[position + MAGIC] > 1:
        raise BatchError(f"format {data[position + MAGIC]} inside another", offset=position)
    return end
