"""The table `calls`: requests joined with their responses."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from kwire.capture import REQUEST, RESPONSE
from kwire.pipeline.pairing import ASKED
from kwire.pipeline.tables.shape import shaped

KEY = ("capture", "connection", "event")
"""The columns that join a request with its response.

Not the correlation id: some clients never change it, and a recorder numbers events itself.
"""

_SHARED = (
    *("node_id", "peer_id", "client", "upstream", "client_id"),
    *("api_key", "api", "api_version", "correlation_id"),
)
_ANSWERED = ("at", "monotonic_ns", "size", "status", "records_bytes", "errors")
ORPHAN = "ORPHAN"


def calls(decoded: DataFrame) -> DataFrame:
    """Return a row for every request, and for every response without one.

    1. Most responses stand beside their requests: their rows have the whole pair already.
    2. All others are joined by recording, connection and event; one without the other is kept.
    3. The latency is measured by the clock that never jumps, not by the time of day.
    """
    # 1., 2.
    return _table(_beside(decoded).unionByName(_joined(decoded)))


def _beside(decoded: DataFrame) -> DataFrame:
    """Return the pairs: shared columns, those of the request as `q`, of the response as `r`."""
    pairs = decoded.where(f.col("paired") & (f.col("kind") == RESPONSE))
    return pairs.select(*KEY, *_SHARED, f.col("asked").alias("q"), _alone(_ANSWERED, "r"))


def _joined(decoded: DataFrame) -> DataFrame:
    """Join all others; `q` or `r` is null if there is none."""
    apart = decoded.where(~f.col("paired"))
    q = _side(apart, REQUEST, ASKED.names).alias("q")
    r = _side(apart, RESPONSE, _ANSWERED).alias("r")
    both = q.join(r, [f.col(f"q.{name}") == f.col(f"r.{name}") for name in KEY], "full_outer")
    either = [f.coalesce(f"q.{name}", f"r.{name}").alias(name) for name in (*KEY, *_SHARED)]
    return both.select(*either, f.col("q.own").alias("q"), f.col("r.own").alias("r"))


def _side(decoded: DataFrame, kind: str, columns: Sequence[str]) -> DataFrame:
    return decoded.where(f.col("kind") == kind).select(*KEY, *_SHARED, _alone(columns, "own"))


def _alone(columns: Sequence[str], name: str) -> Column:
    return f.struct(*columns).alias(name)


def _table(pairs: DataFrame) -> DataFrame:
    q, r = f.col("q"), f.col("r")
    columns = {
        "at": f.coalesce(q["at"], r["at"]),
        "outcome": f.when(q.isNull(), ORPHAN).otherwise(q["ending"]),
        # 3.
        "latency_ms": (r["monotonic_ns"] - q["monotonic_ns"]) / 1e6,
        "request_size": q["size"],
        "response_size": r["size"],
        "records_bytes": f.coalesce(q["records_bytes"], f.lit(0))
        + f.coalesce(r["records_bytes"], f.lit(0)),
        "errors": r["errors"],
        "error": f.get(r["errors"], 0)["name"],
        "request_status": q["status"],
        "response_status": r["status"],
        **{name: q[name] for name in ("max_wait_ms", "problems", "notes", "deeds")},
    }
    return shaped(pairs.withColumns(columns), "calls")
