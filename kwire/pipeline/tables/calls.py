"""The rows of the table `calls`: requests with their responses."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from kwire.pipeline.schemas import arrow_schema_of
from kwire.pipeline.tables.pairing import NONE, Pairs

KEY = ("capture", "connection", "event")
"""The columns that a request and its response have in common.

Not the correlation id: some clients never change it, and a recorder numbers events itself.
"""

_EITHER = (
    *KEY,
    "at",
    *("node_id", "peer_id", "client", "upstream", "client_id"),
    *("api_key", "api", "api_version", "correlation_id"),
)
"""Columns of the request; of the response where the request, or its value, is not there."""

_OF_REQUEST = {
    "outcome": "ending",
    "request_size": "size",
    "request_status": "status",
    **{name: name for name in ("max_wait_ms", "problems", "notes", "deeds")},
}
_OF_RESPONSE = {"response_size": "size", "response_status": "status", "errors": "errors"}
_NANOSECONDS = 1e6
"""In a millisecond."""

ORPHAN = "ORPHAN"
"""The outcome of a response without a request."""


def call_rows(pairs: Pairs) -> pa.RecordBatch:
    """Return a row of `calls` for every pair, and for every half of one.

    1. What both frames have is taken from the request, or else from the response.
    2. The latency is measured by the clock that never steps, not by the time of day.
    3. Record batches go one way: of Produce in the request, of Fetch in the response.
    """
    # 1.
    columns = {name: _either(pairs, name) for name in _EITHER}
    columns |= {name: pairs.of_requests(source) for name, source in _OF_REQUEST.items()}
    columns |= {name: pairs.of_responses(source) for name, source in _OF_RESPONSE.items()}
    is_orphan = pa.array(pairs.requests == NONE)
    columns["outcome"] = pc.if_else(is_orphan, ORPHAN, columns["outcome"])
    columns["error"] = first_error(columns["errors"])
    # 2.
    begin, end = pairs.of_requests("monotonic_ns"), pairs.of_responses("monotonic_ns")
    elapsed = pc.subtract(end, begin).cast(pa.float64(), safe=False)
    columns["latency_ms"] = pc.divide(elapsed, _NANOSECONDS)
    # 3.
    asked, answered = pairs.of_requests("records_bytes"), pairs.of_responses("records_bytes")
    columns["records_bytes"] = pc.add(asked.fill_null(0), answered.fill_null(0))
    columns["topics"] = _topics(pairs)
    schema = arrow_schema_of("calls")
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def first_error(errors: pa.Array) -> pa.Array:
    """Return the name of the first of the errors of each row; null where there is none."""
    counts = pc.list_value_length(errors).fill_null(0).to_numpy(zero_copy_only=False)
    firsts = errors.offsets.to_numpy()[:-1]
    return errors.values.field("name").take(pa.array(firsts, mask=counts == 0))


def _either(pairs: Pairs, name: str) -> pa.Array:
    column = pairs.of_requests(name)
    return pc.coalesce(column, pairs.of_responses(name)) if column.null_count else column


def _topics(pairs: Pairs) -> pa.Array:
    """Return the topics of the response, or else of the request."""
    column = pairs.rows["topics"]
    has_topics = column.is_valid().to_numpy(zero_copy_only=False)
    # Position NONE is the last row; what it has does not count.
    is_answer = (pairs.responses != NONE) & has_topics[pairs.responses]
    positions = pairs.requests.copy()
    positions[is_answer] = pairs.responses[is_answer]
    return column.take(pa.array(positions, mask=positions == NONE))
