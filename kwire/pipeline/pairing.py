"""Pairs requests and responses that stand side by side in a batch, as a recorder writes them.

All others are left to a join, which has to move them between tasks (`kwire.pipeline.tables.calls`).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import StructField, StructType

from kwire.capture import REQUEST, RESPONSE
from kwire.pipeline.columns import column
from kwire.pipeline.schemas import BOOL, CONNECTION, FRAMES, PARTIES

_SHARED = (
    *(field.name for field in (*CONNECTION, *PARTIES)),
    *("api_key", "api_version", "correlation_id"),
)

ASKED = StructType(
    [
        *(FRAMES[name] for name in ("at", "monotonic_ns", "size", "status", "records_bytes")),
        *(FRAMES[name] for name in ("max_wait_ms", "ending", "problems", "notes", "deeds")),
    ]
)
"""The columns that a call has from its request alone."""


def pair_columns() -> list[StructField]:
    """Return the columns that `pairs` adds to a frame."""
    return [
        column("paired", BOOL, "whether request and response stand side by side"),
        column("asked", ASKED, "of a response that is paired: what its request says"),
    ]


def pairs(frames: pa.RecordBatch, asked: pa.StructType) -> tuple[pa.Array, pa.Array]:
    """Pair each response with the request in the row before it.

    Return the columns `paired` and `asked`. frames: one at least. asked: ASKED for Arrow.
    """
    rows = frames.num_rows
    before, behind = frames.slice(0, rows - 1), frames.slice(1)
    met = pc.and_(pc.equal(before["kind"], REQUEST), pc.equal(behind["kind"], RESPONSE))
    for name in _SHARED:
        met = pc.and_(met, _same(before[name], behind[name]))
    # The row of the response has the whole pair; both rows are marked, for the join to omit them.
    answers = np.zeros(rows, dtype=bool)
    answers[1:] = met.to_numpy(zero_copy_only=False)
    paired = answers.copy()
    paired[:-1] |= answers[1:]
    requests = pa.array(np.arange(rows) - 1, mask=~answers)
    values = [frames[field.name].take(requests) for field in asked]
    return pa.array(paired), pa.StructArray.from_arrays(
        values, fields=list(asked), mask=pa.array(~answers)
    )


def _same(left: pa.Array, right: pa.Array) -> pa.Array:
    both_null = pc.and_(pc.is_null(left), pc.is_null(right))
    return pc.coalesce(pc.equal(left, right), both_null)
