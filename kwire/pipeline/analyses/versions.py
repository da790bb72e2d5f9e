"""The versions that clients use, and those that Kafka 4 no longer answers (KIP-896)."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from kwire.capture.client_versions import SINCE_KAFKA_4
from kwire.pipeline.analyses.clusters import CLUSTER
from kwire.pipeline.spark_columns import lookup


def versions(calls: DataFrame) -> DataFrame:
    """Return a row for every API that a client used in a cluster, blocked ones first.

    clients: addresses that it came from. lowest, highest: the versions it asked for. needed: the
    lowest that Kafka 4 answers. blocked: calls below that, which fail after an upgrade.
    """
    needed = f.coalesce(lookup(SINCE_KAFKA_4, f.col("api_key")), f.lit(0))
    known = calls.where("api_version is not null").withColumn("needed", needed)
    grouped = known.groupBy(CLUSTER, "client_id", "api_key", "api", "needed").agg(
        f.count(f.lit(1)).alias("calls"),
        f.count_distinct(f.regexp_replace("client", r":\d+$", "")).alias("clients"),
        f.min("api_version").alias("lowest"),
        f.max("api_version").alias("highest"),
        f.count_if(f.col("api_version") < f.col("needed")).alias("blocked"),
    )
    columns = ("client_id", "api", "lowest", "highest", "needed", "blocked", "calls", "clients")
    return grouped.select(CLUSTER, *columns).orderBy(f.desc("blocked"), CLUSTER, "client_id", "api")


def features(records: DataFrame) -> DataFrame:
    """Return a row for every level that a feature of a cluster was set to, as its log tells.

    offset, at: of the record that set it. current: whether it is the last. A level in a snapshot
    was set before it.
    """
    level = f.col("feature_level")
    levels = records.where(level.isNotNull()).select(
        CLUSTER, "offset", "epoch", "at", "snapshot", "feature_level.*"
    )
    last = Window.partitionBy(CLUSTER, "name").orderBy(f.desc("epoch"), f.desc("offset"))
    marked = levels.dropDuplicates([CLUSTER, "name", "feature_level", "epoch"]).withColumn(
        "current", f.row_number().over(last) == 1
    )
    return marked.select(
        *(CLUSTER, "name", f.col("feature_level").alias("level"), "current"),
        *("at", "epoch", "offset"),
    ).orderBy(CLUSTER, "name", "epoch", "offset")
