"""The outcomes of ISR changes that leaders of partitions asked for (KIP-497, KIP-841)."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kwire.error_codes import ErrorCode
from kwire.pipeline.analyses.clusters import CLUSTER
from kwire.pipeline.spark_columns import lookup
from kwire.pipeline.tables.calls import KEY

PARTITION = ("topic", "partition_index")


def alter_partitions(messages: DataFrame) -> DataFrame:
    """Return a row for every outcome of the changes of a cluster's broker, the most frequent first.

    outcome: name of the error code of the partition, or of the whole response; `NONE`: the ISR was
    taken. Null: no response was recorded. changes: partitions, one for each time it was asked.
    partitions: different ones. first, last: when it was asked.
    """
    request, response = f.col("alter_partition_request"), f.col("alter_partition_response")
    asked = _partitions(
        messages.where(request.isNotNull()), "alter_partition_request", CLUSTER, "at"
    )
    responses = messages.where(response.isNotNull()).select(
        *KEY, response["error_code"].alias("whole"), f.lit(True).alias("answered")
    )
    parts = _partitions(messages.where(response.isNotNull()), "alter_partition_response")
    results = parts.select(*KEY, *PARTITION, f.col("partition_data.error_code").alias("part"))
    joined = asked.join(responses, list(KEY), "left").join(results, [*KEY, *PARTITION], "left")
    code = f.when(f.col("whole") != 0, f.col("whole")).otherwise(f.col("part"))
    name = lookup({int(error): error.name for error in ErrorCode}, code)
    outcome = f.coalesce(name, f.format_string("ERROR %d", code))
    found = f.when(f.col("answered"), outcome).alias("outcome")
    outcomes = joined.groupBy(CLUSTER, "broker_id", found).agg(
        f.count(f.lit(1)).alias("changes"),
        f.count_distinct(f.struct(*PARTITION)).alias("partitions"),
        f.min("at").alias("first"),
        f.max("at").alias("last"),
    )
    return outcomes.orderBy(f.desc("changes"), CLUSTER, "broker_id", "outcome")


def _partitions(messages: DataFrame, column: str, *others: str) -> DataFrame:
    """Return a row for every partition in a message. topic: its id; its name in older versions."""
    topics = messages.select(*KEY, *others, f"{column}.*").withColumn(
        "topic_data", f.explode("topics")
    )
    topic = f.coalesce("topic_data.topic_id", "topic_data.topic_name").alias("topic")
    parts = f.explode("topic_data.partitions").alias("partition_data")
    broker = [name for name in ("broker_id",) if name in topics.columns]
    opened = topics.select(*KEY, *others, *broker, topic, parts)
    return opened.withColumn("partition_index", f.col("partition_data.partition_index"))
