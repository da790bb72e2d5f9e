"""The rows of the table `messages`: frames that decode, those of the quorum's APIs as structs.

JSON is parsed by Arrow, all messages of one kind at once, into the struct of all their versions.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json

from kwire.capture import REQUEST, RESPONSE
from kwire.messages.index import APIS
from kwire.pipeline.frame import DECODED
from kwire.pipeline.schemas import arrow_schema_of
from kwire.pipeline.typed import TYPED_APIS, snake

_TYPED = pa.array(TYPED_APIS, pa.int32())


class _StructColumn(NamedTuple):
    """A struct column, and the messages that it is of. kind: of frame. struct: its type."""

    name: str
    api_key: int
    kind: str
    struct: pa.StructType


def message_rows(decoded: pa.RecordBatch) -> pa.RecordBatch:
    """Return a row of `messages` for every frame that decodes; without bodies, it has no content.

    1. A message of the quorum's APIs is parsed into the column of its own.
    2. All others are kept as JSON.
    """
    rows = decoded.filter(pc.equal(decoded["status"], DECODED))
    schema = arrow_schema_of("messages")
    columns = {name: rows[name] for name in schema.names if name in rows.schema.names}
    # 1.
    keys = pc.if_else(rows["body"].is_valid(), rows["api_key"], None).to_numpy(zero_copy_only=False)
    is_request = pc.equal(rows["kind"], REQUEST).to_numpy(zero_copy_only=False)
    for name, api_key, kind, struct in _struct_columns():
        positions = np.flatnonzero((keys == api_key) & (is_request == (kind == REQUEST)))
        columns[name] = _structs(rows["body"], positions, struct)
    # 2.
    is_typed = pc.is_in(rows["api_key"], _TYPED)
    columns["body"] = pc.if_else(is_typed, None, rows["body"])
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def parse_structs(bodies: pa.Array, struct: pa.StructType) -> pa.Array:
    """Parse messages of one kind from JSON. bodies: one at least, none of them null.

    Members without a column, as unknown tags, are left out. Bytes would be kept as the text that
    stands for them in JSON; the only ones in these messages are record batches, which are null.
    """
    lines = pc.binary_join_element_wise(bodies, "", "\n")
    _, _, data = lines.buffers()
    text = data.slice(0, pc.sum(pc.binary_length(lines)).as_py())
    table = json.read_json(
        pa.BufferReader(text),
        # One block: a line may be of any length, and the rows are then one chunk.
        read_options=json.ReadOptions(use_threads=False, block_size=text.size + 1),
        parse_options=json.ParseOptions(
            explicit_schema=pa.schema(list(struct)), unexpected_field_behavior="ignore"
        ),
    )
    (rows,) = table.combine_chunks().to_batches()
    return pa.StructArray.from_arrays(rows.columns, fields=list(struct))


def _structs(bodies: pa.Array, positions: npt.NDArray[np.int64], struct: pa.StructType) -> pa.Array:
    """Return a column with the messages at these positions; null in all other rows."""
    if not len(positions):
        return pa.nulls(len(bodies), struct)
    parsed = parse_structs(bodies.take(pa.array(positions)), struct)
    order = np.full(len(bodies), -1)
    order[positions] = np.arange(len(positions))
    return parsed.take(pa.array(order, mask=order < 0))


@cache
def _struct_columns() -> list[_StructColumn]:
    schema = arrow_schema_of("messages")
    sides = {"Request": REQUEST, "Response": RESPONSE}
    return [
        _StructColumn(name := snake(f"{APIS[key]}{side}"), key, kind, schema.field(name).type)
        for key in TYPED_APIS
        for side, kind in sides.items()
    ]
