"""Rebalances of groups: classic ones, and those whose coordinator assigns (KIP-848, 932, 1071)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from kwire.pipeline.analyses.bodies import NO_ERRORS, asked_and_answered, errors_by, text_in
from kwire.pipeline.analyses.clusters import CLUSTER, join

CLASSIC = ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup")
ASSIGNED = {
    "ConsumerGroupHeartbeat": "CONSUMER",
    "ShareGroupHeartbeat": "SHARE",
    "StreamsGroupHeartbeat": "STREAMS",
}
GROUP = (CLUSTER, "group_id", "protocol")

APART_MS = 600_000
"""Milliseconds after which the same generation is another one: the group was deleted and made anew.
Within a rebalance members wait for `max.poll.interval.ms` at most, five minutes by default.
"""

NO_ERROR = ("MEMBER_ID_REQUIRED",)
"""The answer to everybody who joins without an id (KIP-394); it then joins with one."""


def rebalances(messages: DataFrame) -> DataFrame:
    """Return a row for every group and protocol, the one with most rebalances first.

    protocol: `CLASSIC`, `CONSUMER`, `SHARE`, `STREAMS`. rebalances: as `rebalance_events` tells.
    members: the most in one of them. first, last: begin of the first and the last of them.
    longest_ms, rebalancing_ms: how long the longest and all of them took. left: members that
    resigned. errors: of all requests of the group, with their numbers, the most frequent first.
    """
    told = _requests(messages)
    resigned = (f.col("api") == "LeaveGroup") | (f.col("epoch") < 0)
    groups = told.groupBy(*GROUP).agg(f.count_if(resigned).alias("left"))
    errors = errors_by(told.where(~f.col("error").isin(*NO_ERROR)), GROUP)
    events = _events(told)
    counts = events.groupBy(*GROUP).agg(
        f.count(f.lit(1)).alias("rebalances"),
        f.max("members").alias("members"),
        f.min("begin").alias("first"),
        f.max("begin").alias("last"),
        f.max("took_ms").alias("longest_ms"),
        f.sum("took_ms").alias("rebalancing_ms"),
    )
    joined = join(join(groups, counts, GROUP, "left"), errors, GROUP, "left").select(
        *GROUP,
        f.coalesce("rebalances", f.lit(0)).alias("rebalances"),
        *("members", "first", "last", "longest_ms", "rebalancing_ms", "left"),
        f.coalesce("errors", f.array().cast(NO_ERRORS)).alias("errors"),
    )
    return joined.orderBy(f.desc("rebalances"), f.desc("left"), *GROUP)


def rebalance_events(messages: DataFrame) -> DataFrame:
    """Return a row for every rebalance, in their order.

    1. In the classic protocol it is a generation: from the first JoinGroup request that led to it
       to the last answer of SyncGroup in it, or of JoinGroup if no SyncGroup was recorded.
    2. In the others it is an epoch of the group: from the first heartbeat whose answer gave a
       member a higher epoch than it had, to the last such answer with this epoch.

    generation: of the group, or its epoch. members: those that took part. begin, end, took_ms.
    """
    return _events(_requests(messages))


def group_errors(messages: DataFrame) -> DataFrame:
    """Return a row for every answer with an error: the group, at, api, error."""
    failed = _requests(messages).where(f.col("error").isNotNull() & ~f.col("error").isin(*NO_ERROR))
    return failed.select(*GROUP, "at", "api", "error")


def _requests(messages: DataFrame) -> DataFrame:
    """Return every request of a group, with the group, the member and both epochs."""
    calls = asked_and_answered(messages, (*CLASSIC, *ASSIGNED))
    protocol = f.lit("CLASSIC")
    for api, name in ASSIGNED.items():
        protocol = f.when(f.col("api") == api, name).otherwise(protocol)
    member = f.coalesce(_not_empty("answer", "member_id"), _not_empty("asked", "member_id"))
    return calls.select(
        CLUSTER,
        *("at", "answered_at", "api", "error"),
        text_in("asked", "group_id").alias("group_id"),
        protocol.alias("protocol"),
        member.alias("member_id"),
        text_in("asked", "member_epoch").cast("int").alias("epoch"),
        text_in("answer", "member_epoch").cast("int").alias("next_epoch"),
        text_in("asked", "generation_id").cast("int").alias("generation_id"),
        text_in("answer", "generation_id").cast("int").alias("next_generation"),
    ).where("group_id is not null")


def _not_empty(body: str, field: str) -> Column:
    return f.nullif(text_in(body, field), f.lit(""))


def _events(told: DataFrame) -> DataFrame:
    """Return the rebalances of `_requests`; see `rebalance_events`."""
    fine = told.where("error is null and answered_at is not null")
    # 1. 2.
    generation = (
        f.when(f.col("api") == "JoinGroup", f.col("next_generation"))
        .when(f.col("api") == "SyncGroup", f.col("generation_id"))
        .when(f.col("next_epoch") > f.col("epoch"), f.col("next_epoch"))
    )
    steps = fine.withColumn("generation", generation).where("generation >= 0")
    order = Window.partitionBy(*GROUP, "generation").orderBy("at")
    quiet_ms = _ms(f.lag("answered_at").over(order), f.col("at"))
    begins_anew = f.when(quiet_ms > APART_MS, 1).otherwise(0)
    # Not a window over a window: Spark takes the inner one first.
    life = f.sum("anew").over(order).alias("life")
    lives = steps.withColumn("anew", begins_anew).select("*", life)
    grouped = lives.groupBy(*GROUP, "generation", "life").agg(
        f.min("at").alias("begin"),
        f.max("answered_at").alias("end"),
        f.count_distinct("member_id").alias("members"),
        f.count_if(f.col("api") != "SyncGroup").alias("joined"),
    )
    # A SyncGroup alone belongs to a rebalance whose begin was not recorded.
    seen = grouped.where("joined > 0").drop("life", "joined")
    return seen.withColumn("took_ms", _ms(f.col("begin"), f.col("end"))).orderBy(
        "begin", *GROUP, "generation"
    )


def _ms(begin: Column, end: Column) -> Column:
    return (f.unix_micros(end) - f.unix_micros(begin)) / 1000
