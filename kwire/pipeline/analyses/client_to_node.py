"""Calls and bytes between each client and each node."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER


def client_to_node(calls: DataFrame) -> DataFrame:
    """Return a row for every client at every node, the one with most calls first.

    calls: how many. share: of all calls of the client. connections: those that the calls came over.
    request_bytes: to the node. response_bytes: from it. first, last: when.
    """
    grouped = calls.groupBy(CLUSTER, "client_id", "node_id").agg(
        f.count(f.lit(1)).alias("calls"),
        f.count_distinct("capture", "connection").alias("connections"),
        f.coalesce(f.sum("request_size"), f.lit(0)).alias("request_bytes"),
        f.coalesce(f.sum("response_size"), f.lit(0)).alias("response_bytes"),
        f.min("at").alias("first"),
        f.max("at").alias("last"),
    )
    of_client = f.sum("calls").over(Window.partitionBy(CLUSTER, "client_id"))
    shared = grouped.select(
        *(CLUSTER, "client_id", "node_id", "calls"),
        (f.col("calls") / of_client).alias("share"),
        *("connections", "request_bytes", "response_bytes", "first", "last"),
    )
    return shared.orderBy(f.desc("calls"), CLUSTER, "client_id", "node_id")
