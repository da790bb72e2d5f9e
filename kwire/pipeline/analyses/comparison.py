"""Two captures side by side, as before and after an upgrade."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER, join
from kwire.pipeline.analyses.latencies import LEAST_CALLS, is_long_poll

SAME = (CLUSTER, "api", "client_id")


def comparison(before: DataFrame, after: DataFrame) -> DataFrame:
    """Return a row for every API and client of two tables of calls, those that slowed most first.

    Clusters are compared each with itself; if each table has the calls of one cluster only, these
    two are compared, and cluster_id is that of the second.

    Of each side: calls; versions: the lowest and the highest asked for; p50_ms, p99_ms: of answered
    calls that wait for no records; failed: share of the calls with an error. slower: p99 after by
    p99 before; null if either has none. Rows with fewer than LEAST_CALLS calls on a side stand
    behind all others.
    """
    clusters = [calls.select(CLUSTER).distinct().limit(2).collect() for calls in (before, after)]
    if all(len(of_side) == 1 for of_side in clusters):
        before = before.withColumn(CLUSTER, f.lit(clusters[1][0][CLUSTER]).cast("string"))
    joined = join(_side(before, "before"), _side(after, "after"), SAME, "full_outer")
    compared = joined.withColumn("slower", f.expr("try_divide(p99_ms_after, p99_ms_before)"))
    enough = f.least(*(f.coalesce(f"calls_{side}", f.lit(0)) for side in ("before", "after")))
    return compared.orderBy(f.desc(enough >= LEAST_CALLS), f.desc_nulls_last("slower"), *SAME)


def _side(calls: DataFrame, name: str) -> DataFrame:
    latency = f.when(~is_long_poll(), f.col("latency_ms"))
    span: Column = f.concat_ws("–", f.min("api_version"), f.max("api_version"))
    return calls.groupBy(*SAME).agg(
        f.count(f.lit(1)).alias(f"calls_{name}"),
        span.alias(f"versions_{name}"),
        f.percentile_approx(latency, 0.5).alias(f"p50_ms_{name}"),
        f.percentile_approx(latency, 0.99).alias(f"p99_ms_{name}"),
        (f.count_if(f.col("error").isNotNull()) / f.count(f.lit(1))).alias(f"failed_{name}"),
    )
