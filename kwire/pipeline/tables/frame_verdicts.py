"""The rows of the table `verdicts` for frames: results of the checks of what was copied whole."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from kwire.capture import RESPONSE
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.pipeline.frame import DECODED, UNDECODABLE
from kwire.pipeline.schemas import arrow_schema_of

ROUND_TRIP, VERSION = "round-trip", "response-version"
_COPIED_WHOLE = pa.array([DECODED, UNDECODABLE])


def frame_verdicts(decoded: pa.RecordBatch) -> pa.RecordBatch:
    """Return a row for every frame that was copied whole, and then one for every response.

    1. A frame decodes, to the last byte, and encodes to the very bytes again.
    2. A response is of the version of its request, and has its correlation id.
    """
    judged = decoded.filter(pc.is_in(decoded["status"], _COPIED_WHOLE))
    responses = judged.filter(pc.equal(judged["kind"], RESPONSE))
    schema = arrow_schema_of("verdicts")
    batches = [
        # 1.
        _rows(judged, ROUND_TRIP, _round_trip(judged), schema),
        # 2.
        _rows(responses, VERSION, _version(responses), schema),
    ]
    (rows,) = pa.Table.from_batches(batches).combine_chunks().to_batches() or batches[:1]
    return rows


def _rows(
    frames: pa.RecordBatch, check: str, details: pa.Array, schema: pa.Schema
) -> pa.RecordBatch:
    """Return the rows of one check. details: what is wrong with each frame; null: nothing."""
    count = frames.num_rows
    columns = {
        "check": pa.repeat(check, count),
        "passed": details.is_null(),
        "detail": details,
    }
    arrays = [
        columns[field.name]
        if field.name in columns
        else frames[field.name]
        if field.name in frames.schema.names
        else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _round_trip(frames: pa.RecordBatch) -> pa.Array:
    left_over = frames["left_over"]
    left = pc.binary_join_element_wise(left_over.cast(pa.string()), "bytes behind the body", " ")
    return pc.case_when(
        _conditions(
            pc.not_equal(frames["status"], DECODED),
            pc.greater(left_over, 0),
            pc.invert(frames["identical"]),
        ),
        frames["error"],
        left,
        "encodes to other bytes",
    )


def _version(responses: pa.RecordBatch) -> pa.Array:
    """Return what is wrong with the version or the correlation id of each response, or null."""
    version = responses["body_version"]
    # A node may answer an ApiVersions request of a version that it does not know in v0 (KIP-511).
    other = pc.and_(
        pc.not_equal(version, responses["api_version"]),
        pc.not_equal(responses["api_key"], ApiVersionsRequest.key),
    )
    ids = responses["wire_correlation_id"], responses["correlation_id"]
    found, expected = (column.cast(pa.string()) for column in ids)
    return pc.case_when(
        _conditions(
            pc.not_equal(responses["status"], DECODED),
            other,
            pc.not_equal(*ids),
        ),
        responses["error"],
        pc.binary_join_element_wise("its body is of version", version.cast(pa.string()), " "),
        pc.binary_join_element_wise("correlation id", found, "answers", expected, " "),
    )


def _conditions(*conditions: pa.Array) -> pa.StructArray:
    """Return the argument of case_when; a condition that is null does not hold."""
    held = [condition.fill_null(False) for condition in conditions]
    return pa.StructArray.from_arrays(held, names=[str(number) for number in range(len(held))])
