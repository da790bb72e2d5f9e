"""Failed calls: their number and their errors."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER

PARTIES = (CLUSTER, "api", "client_id", "node_id")
ANSWERED = ("ANSWERED", "NO_RESPONSE")
"""Outcomes that are as they should be: some requests have no response."""


def failure() -> Column:
    """Return the first error of a call by name, or its outcome if it has no answer, or null."""
    outcome = f.col("outcome")
    return f.coalesce("error", f.when(~outcome.isin(*ANSWERED), outcome))


def errors(calls: DataFrame) -> DataFrame:
    """Return a row for every failure of an API for a client at a cluster's node, the most frequent
    first.

    failure: name of the first error code, or how a call without an answer ended: `LOST`, `PENDING`,
    `ORPHAN`. failed: calls that failed so. calls: all of this API, client and node. rate: the one
    by the other. first, last: when. message: what a node said to it, if it ever did.
    """
    node_message = f.get("errors", 0)["message"].alias("node_message")
    counted = calls.select(*PARTIES, "at", failure().alias("failure"), node_message)
    by_failure = counted.groupBy(*PARTIES, "failure").agg(
        f.count(f.lit(1)).alias("failed"),
        f.min("at").alias("first"),
        f.max("at").alias("last"),
        f.max("node_message").alias("message"),
    )
    all_calls = f.sum("failed").over(Window.partitionBy(*PARTIES))
    rated = by_failure.withColumn("calls", all_calls).withColumn("rate", f.expr("failed / calls"))
    columns = (*PARTIES, "failure", "failed", "calls", "rate", "first", "last", "message")
    return rated.where("failure is not null").select(*columns).orderBy(f.desc("failed"), *PARTIES)
