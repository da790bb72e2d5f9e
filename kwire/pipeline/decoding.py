"""Decodes captured records: a function of one Arrow batch, which Spark maps.

    captured.mapInArrow(decode_batches, spark_schema(DECODED))

Each batch gives one of as many rows, in the same order, whatever is wrong with them, so that rows
can be counted before and after. Arrow, since rows as Python tuples cost 1.2 to 1.4 times as much on
their way between Spark and Python. Messages as JSON cost as much as everything else: `bodies=False`
leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from kwire.capture import NOTICE, REQUEST
from kwire.messages.registry import api_name
from kwire.pipeline.columns import column
from kwire.pipeline.frame import DecodedColumns, read_frame
from kwire.pipeline.schemas import BYTES, FRAMES, INT, TEXT, made_columns

_PASSED = (
    *("capture", "connection", "event", "kind", "at", "monotonic_ns", "node_id", "peer_id"),
    *("client", "upstream", "client_id", "api_key", "api_version", "correlation_id"),
    *("redaction", "ending", "problems", "notes", "deeds", "notice", "text", "file"),
)
"""Columns of a captured record that are columns of `frames`."""

CAPTURED = pa.schema(
    [
        *(FRAMES.field(name) for name in _PASSED),
        FRAMES.field("size"),
        column("frame", BYTES, "the bytes that were copied; null where none were"),
    ]
)
"""A record of a capture, with the file it is from: the rows of both readers."""

DECODED = pa.schema(
    [
        *made_columns(FRAMES),
        column("wire_correlation_id", INT, "of the frame's own header"),
        column("body", TEXT, "the message as JSON; null unless decoded, and wanted"),
        column("named_cluster", TEXT, "the id of the cluster, where the message names it"),
    ]
)
"""Everything that is known of a frame: the source of the tables of a capture."""

WITH_BODIES = frozenset({"messages", "quorum"})
"""Tables that need the content of messages: JSON is half of the cost of decoding."""

_NO_FRAME = DecodedColumns(None)


def decode_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Decode batch after batch."""
    for batch in batches:
        yield decode_batch(batch)


def decode_batch(batch: pa.RecordBatch, *, bodies: bool = True) -> pa.RecordBatch:
    """Decode the frames of rows, from CAPTURED to DECODED. bodies: the messages as JSON, too."""
    if not batch.num_rows:
        return pa.RecordBatch.from_pylist([], DECODED)
    names = ("kind", "frame", "size", "api_key", "api_version")
    kinds, frames, sizes, keys, versions = (batch.column(name).to_pylist() for name in names)
    findings = [
        _NO_FRAME
        if kind == NOTICE
        else read_frame(frame, size, key, version, kind == REQUEST, bodies=bodies)
        for kind, frame, size, key, version in zip(
            kinds, frames, sizes, keys, versions, strict=True
        )
    ]
    columns: dict[str, Any] = {name: batch.column(name) for name in (*_PASSED, "size")}
    columns["api"] = [None if key is None else api_name(key) for key in keys]
    columns["copied"] = [None if frame is None else len(frame) for frame in frames]
    columns |= zip(DecodedColumns._fields, zip(*findings, strict=True), strict=True)
    arrays = [_array(columns[field.name], field.type) for field in DECODED]
    return pa.RecordBatch.from_arrays(arrays, schema=DECODED)


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.Array):
        return values if values.type == kind else values.cast(kind)
    return pa.array(values, kind)
