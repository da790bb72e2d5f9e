"""Reads captures and packet files as rows of CAPTURED."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, cast
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from kwire.capture import NOTICE, CaptureRecord, Damage
from kwire.capture.encoding import RecordDecoder
from kwire.capture.reading import NewerCapture, block_records, range_blocks, read_info
from kwire.capture.schema import VERSION
from kwire.errors import FileError
from kwire.pipeline.body import printable
from kwire.pipeline.decoding import CAPTURED
from kwire.pipeline.reading.blocks import BlockReader
from kwire.pipeline.reading.planning import Slice
from kwire.pipeline.reading.storage import FileKind, open_file
from kwire.proxy.capture.pcap_import import PacketImport
from kwire.proxy.capture.records import event_records
from kwire.text.ids import uuid_text

BATCH_ROWS = 8192
"""Rows from which on a batch is full."""

BATCH_BYTES = 8 * 1024 * 1024
"""Bytes of frames from which on a batch is full."""

DAMAGE = "DAMAGE"
"""The kind of notice for bytes of a capture that cannot be read."""


def read_captured(part: Slice) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a slice, so many at once that a batch stays small.

    A file that is not of its kind becomes one row of damage. Raises NewerCapture.
    """
    file = part.file
    try:
        if file.kind is FileKind.CAPTURE:
            yield from _capture_batches(part)
        else:
            yield from captured_batches(_packet_records(file.path), file.path)
    except NewerCapture:
        raise
    except FileError as error:
        if part.start == 0:  # other slices are of the same file
            size, offset = file.size - error.offset, error.offset
            damage = Damage(file=file.path, offset=offset, size=size, reason=error.reason)
            yield _damage(damage, file.path)


def captured_batches(
    records: Iterable[CaptureRecord | Damage], path: str
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of records, so many at once that a batch stays small. path: of their file."""
    waiting: list[CaptureRecord] = []
    size = 0
    for record in records:
        if isinstance(record, Damage):
            if waiting:
                yield _batch(waiting, path)
                waiting, size = [], 0
            yield _damage(record, path)
            continue
        waiting.append(record)
        size += len(record.frame or b"")
        if len(waiting) == BATCH_ROWS or size >= BATCH_BYTES:
            yield _batch(waiting, path)
            waiting, size = [], 0
    if waiting:
        yield _batch(waiting, path)


def _capture_batches(part: Slice) -> Iterator[pa.RecordBatch]:
    """Yield the rows of blocks, many at once; those of an unexpected block record by record."""
    path = part.file.path
    reader = BlockReader(CAPTURED, path)
    with open_file(path) as file:
        info = read_info(file, path)
        decoder = RecordDecoder(info.version)
        for block in range_blocks(file, path, info, part.start, part.stop):
            # BlockReader knows the newest version alone; older ones lack fields.
            if isinstance(block, Damage) or info.version != VERSION or not reader.read(block):
                if reader:
                    yield reader.take()
                # What waits comes first: rows keep the order of the file.
                unexpected = (
                    [block] if isinstance(block, Damage) else block_records(block, decoder, path)
                )
                yield from captured_batches(unexpected, path)
            elif len(reader) >= BATCH_ROWS or reader.size >= BATCH_BYTES:
                yield reader.take()
    if reader:
        yield reader.take()


def _packet_records(path: str) -> Iterator[CaptureRecord | Damage]:
    # The same packets are the same recording, whenever they are read and wherever they are.
    with open_file(path) as file:
        content = hashlib.file_digest(cast(Any, file), "sha256")
    capture = uuid_text(UUID(bytes=content.digest()[:16]))
    with open_file(path) as file:
        reading = PacketImport(file, path)
        for number, event in enumerate(reading.events()):
            yield from event_records(event, number, capture, event.at)
    # Notices tell what is missing in a connection, but not this.
    ended = reading.balance.ended
    if ended is not None:
        yield Damage(file=path, offset=ended.offset, size=0, reason=ended.reason)
    for item in reading.balance.unread_items:
        yield Damage(file=path, offset=0, size=0, reason=f"{item.name}: {item.text}")


def damage_texts(rows: pa.RecordBatch) -> pa.Array:
    """Return the sentences about damage in rows of CAPTURED, or of DECODED."""
    return rows["text"].filter(pc.fill_null(pc.equal(rows["notice"], DAMAGE), False))


def _batch(records: list[CaptureRecord], path: str) -> pa.RecordBatch:
    columns: dict[str, list[Any]] = {
        name: [getattr(record, name) for record in records] for name in _OWN
    }
    columns["at"] = [record.at_us for record in records]
    columns["client_id"] = [printable(record.client_id) for record in records]
    columns["file"] = [path] * len(records)
    return pa.RecordBatch.from_pydict(columns, CAPTURED)


def _damage(damage: Damage, path: str) -> pa.RecordBatch:
    row = dict.fromkeys(CAPTURED.names) | {
        "kind": NOTICE,
        "notice": DAMAGE,
        "text": str(damage),
        "file": path,
        "size": damage.size,
    }
    return pa.RecordBatch.from_pylist([row], CAPTURED)


_OWN = [name for name in CAPTURED.names if name in CaptureRecord.__struct_fields__]
