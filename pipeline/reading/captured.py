"""The records of captures and packet files, as rows of CAPTURED."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from kwire.capture import NOTICE, CaptureRecord, Damage
from kwire.capture.reading import read_range
from kwire.ids import uuid_text
from pipeline.body import printable
from pipeline.decoding import CAPTURED
from pipeline.reading.planning import Slice
from pipeline.reading.storage import Kind, open_file
from pipeline.session import BATCH_ROWS
from proxy.pcap_import import import_events
from proxy.records import event_records

BATCH_BYTES = 8 * 1024 * 1024
"""Bytes of frames from which on a batch is full."""

DAMAGE = "DAMAGE"
"""The notice that tells of bytes of a capture that cannot be read."""


def read_captured(part: Slice) -> Iterator[pa.RecordBatch]:
    """The rows of a slice."""
    return captured_batches(_records(part), part.file.path)


def captured_batches(
    records: Iterable[CaptureRecord | Damage], path: str
) -> Iterator[pa.RecordBatch]:
    """The rows of records, so many at once that a batch stays small. path: where they are from."""
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


def _records(part: Slice) -> Iterator[CaptureRecord | Damage]:
    path = part.file.path
    with open_file(path) as file:
        if part.file.kind is Kind.CAPTURE:
            yield from read_range(file, path, part.start, part.stop)
            return
        # The same file is the same recording whenever it is read.
        capture = uuid_text(uuid5(NAMESPACE_URL, path))
        for number, event in enumerate(import_events(file, path)):
            yield from event_records(event, number, capture, event.at)


def _batch(records: list[CaptureRecord], path: str) -> pa.RecordBatch:
    columns: dict[str, list[Any]] = {
        name: [getattr(record, name) for record in records] for name in _OWN
    }
    columns["at"] = [record.at_us for record in records]
    columns["client_id"] = [printable(record.client_id) for record in records]
    columns["file"] = [path] * len(records)
    return pa.RecordBatch.from_pydict(columns, _schema())


def _damage(damage: Damage, path: str) -> pa.RecordBatch:
    row = dict.fromkeys(CAPTURED.names) | {
        "kind": NOTICE,
        "notice": DAMAGE,
        "text": str(damage),
        "file": path,
        "size": damage.size,
    }
    return pa.RecordBatch.from_pylist([row], _schema())


@cache
def _schema() -> pa.Schema:
    return to_arrow_schema(CAPTURED)


_OWN = [name for name in CAPTURED.names if name in CaptureRecord.__struct_fields__]
