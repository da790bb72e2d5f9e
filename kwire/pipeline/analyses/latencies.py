"""Latencies of calls; those that may wait for records are counted apart."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER

PARTIES = ("api", "api_version", "client_id", "node_id")
PERCENTILES = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99}
ACCURACY = 10_000
"""A percentile is off by no more than this part of its rows."""


LEAST_CALLS = 100
"""With fewer calls the 99th percentile is but the slowest of them, and no reason for a place."""


def latencies(calls: DataFrame, by: Sequence[str] = PARTIES) -> DataFrame:
    """Return a row for every combination of `by` in a cluster, a second one for its long polls,
    slowest first.

    Those of fewer than LEAST_CALLS calls stand behind all others.

    long_poll: a Fetch with `max_wait_ms` above 0, whose time is spent waiting for records.
    calls: those that were answered. p50_ms, p95_ms, p99_ms, max_ms: of their latencies.
    """
    answered = calls.where("latency_ms is not null")
    waiting = is_long_poll().alias("long_poll")
    shares = [
        f.percentile_approx("latency_ms", share, ACCURACY).alias(name)
        for name, share in PERCENTILES.items()
    ]
    grouped = answered.groupBy(CLUSTER, *by, waiting).agg(
        f.count(f.lit(1)).alias("calls"), *shares, f.max("latency_ms").alias("max_ms")
    )
    return grouped.orderBy(f.desc(f.col("calls") >= LEAST_CALLS), f.desc("p99_ms"), CLUSTER, *by)


def is_long_poll() -> Column:
    """True for a Fetch that may wait for records, whose latency says nothing about load."""
    return f.coalesce(f.col("max_wait_ms") > 0, f.lit(False))
