"""Finds whole records where blocks are not whole: each record has its own CRC.

What a crash, a full disk or a bad sector leaves between two whole blocks is searched for records:
after the head of a block, after each record, and wherever the id of a recording stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import SEEK_END
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kwire.capture.avro import block_head
from kwire.capture.encoding import BadRecord, RecordDecoder
from kwire.capture.message import HEAD_SIZE, message_head
from kwire.capture.reading import (
    BLOCK_LIMIT,
    CaptureInfo,
    Damage,
    block_records,
    range_blocks,
)
from kwire.capture.record import CaptureRecord
from kwire.capture.schema import SYNC_SIZE

_START = re.compile(rb"\x2c[A-Za-z0-9_-]{22}")
"""A record begins with the id of its recording: 22 characters after their count."""

AGAIN = 2 * 1024**3
"""Bytes of a damaged range that may be read again for records that seem to be long."""

_START_SIZE = 23
_HEAD_SIZE = 20
_CHUNK = 1024 * 1024
_WINDOW = 64 * 1024


class _SalvagedRecord(NamedTuple):
    """A record and the range of its bytes in the file."""

    start: int
    end: int
    record: CaptureRecord


@dataclass(slots=True)
class _DamagedRange:
    """A damaged range, up to `end`. left: bytes that may be read again in longer windows.

    A file may be full of beginnings of records that claim to be as long as the rest of it.
    """

    file: BinaryIO
    decoder: RecordDecoder
    end: int
    left: int


def salvaged(file: BinaryIO, name: Path, info: CaptureInfo) -> Iterator[CaptureRecord | Damage]:
    """Yield every record with the right CRC, and the bytes between, in the order of the file."""
    decoder = RecordDecoder(info.version)
    for item in _joined(_items(file, name, info, decoder)):
        if isinstance(item, Damage):
            yield from _records_within(file, item, info, decoder)
        else:
            yield item


def _items(
    file: BinaryIO, name: Path, info: CaptureInfo, decoder: RecordDecoder
) -> Iterator[CaptureRecord | Damage]:
    for block in range_blocks(file, name, info, 0, file.seek(0, SEEK_END)):
        yield from [block] if isinstance(block, Damage) else block_records(block, decoder, name)


def _joined(items: Iterator[CaptureRecord | Damage]) -> Iterator[CaptureRecord | Damage]:
    """Join damages that touch: where a length is wrong, a record may lie across their edge."""
    before: Damage | None = None
    for item in items:
        if before is not None:
            if isinstance(item, Damage) and item.offset == before.offset + before.size:
                before = replace(before, size=before.size + item.size, torn=item.torn)
                continue
            yield before
            before = None
        if isinstance(item, Damage):
            before = item
        else:
            yield item
    if before is not None:
        yield before


def _records_within(
    file: BinaryIO, damage: Damage, info: CaptureInfo, decoder: RecordDecoder
) -> Iterator[CaptureRecord | Damage]:
    """Yield the whole records of a damaged range, and what of it belongs to none of them."""
    position, end = damage.offset, damage.offset + damage.size
    lost = position
    source = _DamagedRange(file, decoder, end, AGAIN)
    while (salvaged_record := _next_record(source, position, info)) is not None:
        # Block heads and sync markers between two records are no loss of data.
        if not _is_structure(file, lost, salvaged_record.start, info.sync):
            yield _part(damage, lost, salvaged_record.start)
        yield salvaged_record.record
        position = lost = salvaged_record.end
    if not _is_structure(file, lost, end, info.sync):
        yield _part(damage, lost, end)


def _part(damage: Damage, start: int, end: int) -> Damage:
    torn = damage.torn and end == damage.offset + damage.size
    return replace(damage, offset=start, size=end - start, torn=torn)


def _next_record(source: _DamagedRange, position: int, info: CaptureInfo) -> _SalvagedRecord | None:
    """Return the first whole record from `position` on; None without one."""
    file, end = source.file, source.end
    file.seek(position)
    head = file.read(min(_HEAD_SIZE + SYNC_SIZE, end - position))
    # Records follow each other, so the likely places are tried before the whole range is searched.
    for start in _likely_starts(head, info.sync):
        if (salvaged_record := _record_at(source, position + start)) is not None:
            return salvaged_record
    for start in _candidates(file, position, end):
        if (salvaged_record := _record_at(source, start)) is not None:
            return salvaged_record
    return None


def _likely_starts(head: bytes, sync: bytes) -> Iterator[int]:
    """Yield the offsets of a record after another one: at once, or after a block's head."""
    yield 0
    for begin in (0, SYNC_SIZE) if head.startswith(sync) else (0,):
        if (numbers := block_head(head, begin)) is not None:
            yield numbers[2]


def _candidates(file: BinaryIO, position: int, end: int) -> Iterator[int]:
    """Yield offsets at which the id of a recording stands, but for messages of a topic (`C3 01 …`).

    A frame that was recorded may itself carry records of another recording.
    """
    heads = tuple(message_head(version) for version in (1, 2))
    before = b""
    while position < end:
        file.seek(position)
        chunk = before + file.read(min(_CHUNK, end - position))
        base = position - len(before)
        for match in _START.finditer(chunk):
            start = match.start()
            if base + start > position - _START_SIZE and not chunk[:start].endswith(heads):
                yield base + start
        position = base + len(chunk)
        # An id, and the head of a message before it, may lie across the edge of two chunks.
        before = chunk[-_START_SIZE - HEAD_SIZE :]


def _record_at(source: _DamagedRange, start: int) -> _SalvagedRecord | None:
    """Return the record at an offset; None without one."""
    # The windows grow: most records are short, but one with a frame may have 100 MiB.
    window, longest = _WINDOW, min(source.end - start, BLOCK_LIMIT)
    while longest > 0:
        source.file.seek(start)
        data = source.file.read(min(window, longest))
        try:
            record, size = source.decoder.decode(data, 0)
        except BadRecord as bad:
            # Only a record that the window cuts off may be whole in a larger one.
            if window >= longest or not bad.cut or source.left <= 0:
                return None
            window *= 8
            source.left -= min(window, longest)
        else:
            return _SalvagedRecord(start, start + size, record)
    return None


def _is_structure(file: BinaryIO, start: int, end: int, sync: bytes) -> bool:
    """True for bytes that are a block's own: sync markers, whole or cut, and its head."""
    if end - start > 2 * SYNC_SIZE + _HEAD_SIZE:
        return False
    file.seek(start)
    data = file.read(end - start)
    data = data.removeprefix(sync)
    if sync.startswith(data):
        return True
    numbers = block_head(data, 0)
    return numbers is not None and numbers[0] > 0 and numbers[2] == len(data)
