"""Bytes of record batches by topic and client: produced, fetched by clients, replicated."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.messages.registry import api_key
from kwire.pipeline.analyses.clusters import CLUSTER, join
from kwire.text.ids import uuid_text

PRODUCE, FETCH = api_key("Produce"), api_key("Fetch")
NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""The id of no topic, in Kafka's text: an old response has no other."""

METADATA = "topics array<struct<name string, topic_id string>>"


def topic_bytes(
    calls: DataFrame, messages: DataFrame | None = None, partitions: DataFrame | None = None
) -> DataFrame:
    """Return a row for every topic, client and direction, the one with most bytes first.

    direction: `IN`: produced; `OUT`: fetched; `REPLICATED`: fetched by another node. topic: its
    name; null if a message has the id alone, and neither responses to Metadata in `messages` nor
    `partitions` name it. calls: those that had a part of the topic. records_bytes: of its batches.
    """
    direction = (
        f.when(f.col("api_key") == PRODUCE, "IN")
        .when(f.col("peer_id").isNotNull(), "REPLICATED")
        .otherwise("OUT")
    )
    moved = calls.where(f.col("api_key").isin(PRODUCE, FETCH) & f.col("topics").isNotNull())
    parts = moved.select(
        CLUSTER, direction.alias("direction"), "client_id", f.explode("topics").alias("part")
    ).select(CLUSTER, "direction", "client_id", "part.*")
    # A topic stands under its name in older versions of a message, and under its id in others.
    names = topic_names(messages, partitions)
    found = (
        parts.withColumn("name", f.lit(None).cast("string"))
        if names is None
        else join(parts, f.broadcast(names), [CLUSTER, "topic_id"], "left")
    )
    # No response to Metadata, and no record, names the topic of the metadata log.
    of_metadata = f.when(f.col("topic_id") == uuid_text(METADATA_TOPIC_ID), METADATA_TOPIC)
    named = found.withColumn("topic", f.coalesce("topic", "name", of_metadata))
    known = f.when(f.col("topic").isNull(), f.col("topic_id"))
    grouped = named.groupBy(
        CLUSTER, "topic", known.alias("topic_id"), "client_id", "direction"
    ).agg(
        f.count(f.lit(1)).alias("calls"),
        f.coalesce(f.sum("records_bytes"), f.lit(0)).alias("records_bytes"),
    )
    ranked = (f.desc("records_bytes"), CLUSTER, "topic", "topic_id", "client_id", "direction")
    return grouped.orderBy(*ranked)


def topic_names(messages: DataFrame | None, partitions: DataFrame | None) -> DataFrame | None:
    """Return a row for every id of a topic that is named, with its name; None without a table."""
    sources: list[DataFrame] = []
    if messages is not None:
        told = messages.where("api = 'Metadata' and kind = 'RESPONSE' and body is not null")
        topics = f.explode(f.from_json("body", METADATA)["topics"]).alias("known")
        sources.append(told.select(CLUSTER, topics).select(CLUSTER, "known.topic_id", "known.name"))
    if partitions is not None:
        sources.append(partitions.select(CLUSTER, "topic_id", f.col("topic").alias("name")))
    if not sources:
        return None
    pairs = sources[0] if len(sources) == 1 else sources[0].union(sources[1])
    named = pairs.where(f.col("name").isNotNull() & (f.col("topic_id") != NO_ID))
    return named.groupBy(CLUSTER, "topic_id").agg(f.min("name").alias("name"))
