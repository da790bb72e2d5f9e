""".index and .timeindex: where in a segment an offset or a time is found.

Kafka builds both again whenever it opens a metadata log, so that they matter to its tools only.
The files of the active segment are allocated ahead: zeros after the last entry are no entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import construct
from construct import Int32sb, Int64sb

from kwire.batches.layout import packed

INDEX_INTERVAL = 4096
"""Bytes of a segment between two entries (Kafka: index.interval.bytes)."""

OFFSET_ENTRY = construct.Struct("relative_offset" / Int32sb, "position" / Int32sb)
TIME_ENTRY = construct.Struct("timestamp" / Int64sb, "relative_offset" / Int32sb)
_OFFSET, _TIME = packed(OFFSET_ENTRY), packed(TIME_ENTRY)


@dataclass(slots=True)
class SegmentIndex:
    """The entries of one segment, grown batch by batch as Kafka's LogSegment does it."""

    base_offset: int
    offsets: list[tuple[int, int]] = field(default_factory=list)
    """Last offset of a batch, and where in the segment the batch begins."""
    times: list[tuple[int, int]] = field(default_factory=list)
    """Greatest timestamp so far, and the last offset of the batch that has it."""
    _since: int = 0
    _latest: tuple[int, int] = (-1, -1)

    def add(self, last_offset: int, max_timestamp: int, position: int, size: int) -> None:
        """Note a batch that lies at `position`."""
        if max_timestamp > self._latest[0]:
            self._latest = (max_timestamp, last_offset)
        # The entry comes before the batch is counted, as in LogSegment.append: the first batch of a
        # segment never gets one.
        if self._since > INDEX_INTERVAL:
            self.offsets.append((last_offset, position))
            self._add_time()
            self._since = 0
        self._since += size

    def complete(self) -> None:
        """Note the greatest timestamp of a segment that gets no more batches."""
        self._add_time()

    def position(self, offset: int) -> int:
        """Return a place at or before the batch that holds `offset`."""
        # Entries name the last offset of a batch, so the one before `offset` is at or before its
        # batch.
        low, high = 0, len(self.offsets)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.offsets[middle][0] <= offset else (low, middle)
        return self.offsets[low - 1][1] if low else 0

    def encode_offsets(self) -> bytes:
        """Return the .index file, cut to its entries."""
        return b"".join(_OFFSET.pack(at - self.base_offset, where) for at, where in self.offsets)

    def encode_times(self) -> bytes:
        """Return the .timeindex file, cut to its entries."""
        return b"".join(_TIME.pack(time, at - self.base_offset) for time, at in self.times)

    def _add_time(self) -> None:
        if self._latest[0] > (self.times[-1][0] if self.times else -1):
            self.times.append(self._latest)


def read_offset_index(data: bytes, base_offset: int) -> Iterator[tuple[int, int]]:
    """Yield offsets and positions of an .index file."""
    size = len(data) - len(data) % _OFFSET.size
    for i, (relative, position) in enumerate(_OFFSET.iter_unpack(data[:size])):
        if i and not relative:
            return
        if relative or position:
            yield base_offset + relative, position


def read_time_index(data: bytes, base_offset: int) -> Iterator[tuple[int, int]]:
    """Yield timestamps and offsets of a .timeindex file."""
    size = len(data) - len(data) % _TIME.size
    for i, (timestamp, relative) in enumerate(_TIME.iter_unpack(data[:size])):
        if i and not relative:
            return
        if timestamp or relative:
            yield timestamp, base_offset + relative
