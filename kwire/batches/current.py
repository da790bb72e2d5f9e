"""Record batches of format 2: idempotent, transactional, control batches (KIP-98).

attributes: compression in bits 0-2, timestamp type 3, transactional 4, control 5, delete horizon 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import construct
from construct import Int8sb, Int16sb, Int32sb, Int32ub, Int64sb
from crc32c import crc32c
from msgspec import Struct

from kwire.batches.compression import Limit, decompress, known
from kwire.batches.layout import START, packed
from kwire.batches.record import Record, RecordReader, TimestampType, next_sequence
from kwire.batches.records import read_records
from kwire.errors import BatchError

HEADER = construct.Struct(
    *START.subcons,
    "partition_leader_epoch" / Int32sb,
    "magic" / Int8sb,
    "crc" / Int32ub,
    "attributes" / Int16sb,
    "last_offset_delta" / Int32sb,
    "base_timestamp" / Int64sb,
    "max_timestamp" / Int64sb,
    "producer_id" / Int64sb,
    "producer_epoch" / Int16sb,
    "base_sequence" / Int32sb,
    "count" / Int32sb,
)
"""The header of a batch; `length` counts the bytes after it, `crc` covers those after itself."""

COMPRESSION, APPEND_TIME, TRANSACTIONAL, CONTROL, DELETE_HORIZON = 0x07, 0x08, 0x10, 0x20, 0x40
"""The masks of `attributes`."""


LAYOUT = packed(HEADER)
CHECKED: int = construct.Struct(*HEADER.subcons[:5]).sizeof()
"""The position of the first byte that the CRC covers."""


class RecordBatch(Struct, frozen=True, kw_only=True, gc=False):
    """A batch of format 2: its header, and its records as they lie in `data`, read when asked for.

    data: the whole batch, header included; everything else is Kafka's name for a header field.
    """

    data: bytes
    base_offset: int
    partition_leader_epoch: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    magic = 2

    @classmethod
    def read(cls, data: bytes) -> RecordBatch:
        """Return the batch that `data` is, unchecked but for its size."""
        if len(data) < LAYOUT.size:
            raise BatchError(f"{len(data)} bytes, a header alone has {LAYOUT.size}")
        base_offset, _, epoch, _, crc, attributes, last, *rest = LAYOUT.unpack_from(data)
        base_timestamp, max_timestamp, producer_id, producer_epoch, sequence, count = rest
        return cls(
            data=data,
            base_offset=base_offset,
            partition_leader_epoch=epoch,
            crc=crc,
            attributes=attributes,
            last_offset_delta=last,
            base_timestamp=base_timestamp,
            max_timestamp=max_timestamp,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=sequence,
            count=count,
        )

    def check(self) -> None:
        """BatchError unless the CRC-32C fits."""
        crc = crc32c(memoryview(self.data)[CHECKED:])
        if crc != self.crc:
            raise BatchError(f"the CRC is {crc:08x}, {self.crc:08x} is written", offset=CHECKED)

    def records(self, limit: Limit | None = None) -> Iterator[Record]:
        """Return an iterator over the records, which raises BatchError at a malformed one."""
        return chain.from_iterable(self._parts(limit))

    def records_in(self, data: bytes) -> Iterator[Record]:
        """Return an iterator over the records that the unpacked bytes have, as `records` does."""
        return chain.from_iterable(read_records(data, 0, self.count, self._reader()))

    def unpacked(self, limit: Limit | None) -> bytes:
        """Return the bytes of the records."""
        return decompress(self.data[LAYOUT.size :], self.attributes & COMPRESSION, limit=limit)

    def _parts(self, limit: Limit | None) -> Iterator[Sequence[Record]]:
        if self.count < 0:
            raise BatchError(f"{self.count} records", offset=LAYOUT.size)
        if not self.count:
            return  # whatever follows the header: Kafka does not look at it either
        data, start = self.data, LAYOUT.size
        if self.attributes & COMPRESSION:
            data, start = self.unpacked(limit), 0
        yield from read_records(data, start, self.count, self._reader())

    def _reader(self) -> RecordReader:
        # With the broker's time all records have that of the batch, whatever their deltas say
        # (KIP-32).
        time = self.max_timestamp if self.attributes & APPEND_TIME else None
        return RecordReader(self.base_offset, self.base_timestamp, self.base_sequence, time)

    @property
    def size(self) -> int:
        """The size in bytes, header included."""
        return len(self.data)

    @property
    def last_offset(self) -> int:
        """Offset of the last record, also of one that compaction removed."""
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        """Sequence of the last record, -1 without a producer."""
        return next_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def compression(self) -> int:
        """A Compression, or a number that Kafka does not know either."""
        return known(self.attributes & COMPRESSION)

    @property
    def timestamp_type(self) -> TimestampType:
        """The setter of the timestamps, as the attributes say."""
        return TimestampType(bool(self.attributes & APPEND_TIME))

    @property
    def is_transactional(self) -> bool:
        """True if a transaction's marker decides on these records (KIP-98)."""
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """True if the records are Kafka's own: `kwire.batches.control_records` reads them."""
        return bool(self.attributes & CONTROL)

    @property
    def delete_horizon(self) -> int | None:
        """The time from which compaction may remove the tombstones, in milliseconds (KIP-534)."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON else None
