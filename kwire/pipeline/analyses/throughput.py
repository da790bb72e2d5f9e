"""Calls and bytes by API and client."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER, join

PARTIES = (CLUSTER, "api", "client_id")


def throughput(calls: DataFrame, by: Sequence[str] = PARTIES) -> DataFrame:
    """Return a row for every combination of `by`, the one with most bytes first.

    calls: how many. busiest_second: the most that came in one second. request_bytes: to the nodes;
    response_bytes: from them. per_second, in_per_second, out_per_second: calls, bytes to the nodes
    and bytes from them, on average over all seconds in which there was any call: any of the cluster
    if `by` has it.
    """
    seconds = calls.groupBy(*by, f.date_trunc("second", "at").alias("second")).agg(
        f.count(f.lit(1)).alias("calls"),
        f.sum("request_size").alias("asked"),
        f.sum("response_size").alias("answered"),
    )
    grouped = seconds.groupBy(*by).agg(
        f.sum("calls").alias("calls"),
        f.max("calls").alias("busiest_second"),
        f.coalesce(f.sum("asked"), f.lit(0)).alias("request_bytes"),
        f.coalesce(f.sum("answered"), f.lit(0)).alias("response_bytes"),
    )
    of_cluster = [CLUSTER] if CLUSTER in by else []
    busy = calls.groupBy(*of_cluster).agg(
        f.count_distinct(f.date_trunc("second", "at")).alias("busy")
    )
    timed = (
        join(grouped, f.broadcast(busy), of_cluster)
        if of_cluster
        else grouped.crossJoin(f.broadcast(busy))
    )
    rates = {
        "per_second": "calls",
        "in_per_second": "request_bytes",
        "out_per_second": "response_bytes",
    }
    rated = timed.select(
        *(*by, "calls", "busiest_second", "request_bytes", "response_bytes"),
        *(f.expr(f"try_divide({total}, busy)").alias(rate) for rate, total in rates.items()),
    )
    both = f.col("request_bytes") + f.col("response_bytes")
    return rated.orderBy(f.desc(both), f.desc("calls"), *by)
