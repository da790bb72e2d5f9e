"""Captured rows for the tests, made by hand."""

from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from kwire.pipeline.decoding import CAPTURED

AT = 1_795_246_073_056_000
"""Microseconds of Unix time: 2026-11-21T08:07:53.056Z."""

SCHEMA = to_arrow_schema(CAPTURED)


def row(event: int, **changes: Any) -> dict[str, Any]:
    """A Vote request that was not copied."""
    return {
        **dict.fromkeys(CAPTURED.names),
        "capture": "c",
        "connection": 7,
        "event": event,
        "kind": "REQUEST",
        "at": AT + event,
        "monotonic_ns": 1000 * event,
        "api_key": 52,
        "api_version": 2,
        "correlation_id": event,
        "problems": [],
        "notes": [],
        "deeds": [],
        "file": "night.avro",
        **changes,
    }


def batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    """They as Spark hands them over."""
    return pa.RecordBatch.from_pylist(rows, SCHEMA)
