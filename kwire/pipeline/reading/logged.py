"""Reads metadata logs and snapshots (KIP-595, KIP-630) as rows of LOGGED."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from kwire.batches import Batch, Record, read_batch
from kwire.batches.compression import Limit
from kwire.batches.control_records import ControlRecord, read_control_record
from kwire.batches.metadata_records import OpaqueRecord, VersionedRecord, read_metadata_record
from kwire.batches.reading import batch_size
from kwire.codec.declaration import Message
from kwire.errors import BatchError, EncodeError, KwireError
from kwire.messages.index import METADATA_RECORDS
from kwire.pipeline.body import json, printable, replace_fields, replacements
from kwire.pipeline.columns import column
from kwire.pipeline.reading.identity import log_identity
from kwire.pipeline.reading.planning import Slice
from kwire.pipeline.reading.storage import FileKind, open_file
from kwire.pipeline.schemas import RECORDS, TEXT, made_columns
from kwire.pipeline.session import BATCH_ROWS
from kwire.pipeline.typed import CONTROL_RECORDS, record_columns

_TYPED = {field.name for field in record_columns()}

LOGGED = pa.schema(
    [
        *(field for field in made_columns(RECORDS) if field.name not in _TYPED),
        column("body", TEXT, "the record as JSON; null unless decoded"),
    ]
)
"""A record of a log: the source of the tables of logs."""

_HEAD = 17
"""Bytes of a batch that tell its size and format."""

_MOST = (1 << 63) - 1
_NO_DATE = 253_402_300_800_000
"""Milliseconds from which on Python has no date: the year 10000."""


def read_logged(part: Slice) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a slice, so many at once that a batch stays small."""
    waiting: list[dict[str, Any]] = []
    for row in _rows(part):
        waiting.append(row)
        if len(waiting) == BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(waiting, LOGGED)
            waiting = []
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, LOGGED)


def _rows(part: Slice) -> Iterator[dict[str, Any]]:
    """Yield the rows of batch after batch; one that cannot be read is the last, with the error.

    Only a batch's own size says where the next one begins.
    """
    common = _common(part)
    position = part.start
    if part.file.kind is FileKind.SNAPSHOT and not part.file.size:  # a new segment may be empty
        yield common | {"position": 0, "error": f"{part.file.path}, byte 0: the snapshot is empty"}
    with open_file(part.file.path) as file:
        while position < part.stop:
            origin = common | {"position": position}
            try:
                batch = _batch(file, position, part.file.size)
                yield from (origin | row for row in _batch_rows(batch, part.limit))
            except KwireError as error:
                reason = getattr(error, "reason", str(error))
                yield origin | {"error": f"{part.file.path}, byte {position}: {reason}"}
                return
            position += batch.size


def _common(part: Slice) -> dict[str, Any]:
    file = part.file
    snapshot = file.name.rpartition(".")[0] if file.kind is FileKind.SNAPSHOT else None
    return {"log": log_identity(file.folder).log, "snapshot": snapshot, "file": file.path}


def _batch(file: BinaryIO, position: int, end: int) -> Batch:
    """Read the batch at a position. Raises BatchError if there is none, or it is not whole."""
    file.seek(position)
    head = file.read(_HEAD)
    size = batch_size(head)
    if size is None or position + size > end:
        raise BatchError(f"the batch is cut off, {end - position} bytes are left")
    batch = read_batch(head + file.read(size - len(head)))
    if batch is None:
        raise BatchError("the file is shorter than it was")
    return batch


def _batch_rows(batch: Batch, limit: Limit) -> Iterator[dict[str, Any]]:
    """Yield the rows of a batch. Raises BatchError before the first of them.

    So it is read twice: it may have millions of records, whose rows would take gigabytes.
    """
    last = max((record.offset for record in batch.records(limit)), default=0)
    # Sums of two numbers of the batch: Kafka's would become negative.
    if max(last, batch.last_offset) > _MOST:
        raise BatchError("offsets of more than 64 bits")
    common = {
        "epoch": batch.partition_leader_epoch,
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "control": batch.is_control,
    }
    for record in batch.records(limit):
        yield common | _record(record, batch.is_control)


def _record(record: Record, control: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "offset": record.offset,
        "at": record.timestamp * 1000 if 0 <= record.timestamp < _NO_DATE else None,
        "key": record.key,
        "value": record.value,
    }
    try:
        return row | (_control(record) if control else _metadata(record))
    except KwireError as error:
        return row | {"error": printable(str(error))}


def _control(record: Record) -> dict[str, Any]:
    read: ControlRecord = read_control_record(record)
    row = {"type": read.type, "version": read.version, "name": CONTROL_RECORDS.get(read.type)}
    message = read.message
    if message is None or row["name"] is None:
        return row
    return row | _body(message, _encoded(lambda: message.encode(read.version)) == record.value)


def _metadata(record: Record) -> dict[str, Any]:
    read: VersionedRecord = read_metadata_record(record.value or b"")
    row = {"type": read.type, "version": read.version, "name": METADATA_RECORDS.get(read.type)}
    if isinstance(read.record, OpaqueRecord):
        return row
    return row | _body(read.record, _encoded(read.encode) == record.value)


def _encoded(encode: Callable[[], bytes]) -> bytes | None:
    try:
        return encode()
    except EncodeError:
        return None


def _body(message: Message, identical: bool) -> dict[str, Any]:
    replace_fields(message, replacements(type(message)))
    return {"identical": identical, "body": json(message)}
