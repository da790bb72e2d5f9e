"""The table `calls`: requests joined with their responses."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kwire.capture import REQUEST, RESPONSE
from pipeline.tables.shape import shaped

KEY = ("capture", "connection", "event")
"""What a request and its response share, whatever their correlation ids are."""

_SHARED = (
    *("at", "node_id", "peer_id", "client", "upstream", "client_id"),
    *("api_key", "api", "api_version", "correlation_id"),
)
_OF_REQUEST = ("max_wait_ms", "problems", "notes", "deeds")
ORPHAN = "ORPHAN"


def calls(decoded: DataFrame) -> DataFrame:
    """A row for every request and for every response without one.

    1. Requests and responses meet by recording, connection and event; each is kept without the
       other.
    2. The latency is that of the clock that never steps.
    """
    asked = _side(decoded, REQUEST, [*_SHARED, *_OF_REQUEST, "ending"])
    answered = _side(decoded, RESPONSE, [*_SHARED, "errors"])
    q, r = asked.alias("q"), answered.alias("r")
    joined = q.join(r, [f.col(f"q.{one}") == f.col(f"r.{one}") for one in KEY], "full_outer")
    either = {name: f.coalesce(f"q.{name}", f"r.{name}") for name in (*KEY, *_SHARED)}
    spent = f.col("r.monotonic_ns") - f.col("q.monotonic_ns")
    columns = {
        **either,
        **{name: f.col(f"q.{name}") for name in _OF_REQUEST},
        "outcome": f.when(f.col("q.event").isNull(), ORPHAN).otherwise(f.col("q.ending")),
        "latency_ms": spent / 1e6,
        "request_size": f.col("q.size"),
        "response_size": f.col("r.size"),
        "records_bytes": f.coalesce("q.records_bytes", f.lit(0))
        + f.coalesce("r.records_bytes", f.lit(0)),
        "errors": f.col("r.errors"),
        "error": f.get("r.errors", 0)["name"],
        "request_status": f.col("q.status"),
        "response_status": f.col("r.status"),
    }
    return shaped(joined.select(*(one.alias(name) for name, one in columns.items())), "calls")


def _side(decoded: DataFrame, kind: str, columns: list[str]) -> DataFrame:
    own = [*KEY, *columns, "monotonic_ns", "size", "records_bytes", "status"]
    return decoded.where(f.col("kind") == kind).select(own)
