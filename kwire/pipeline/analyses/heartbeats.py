"""Gaps between the heartbeats of brokers, against the session timeout (KIP-631)."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER
from kwire.pipeline.analyses.recorded import recorded
from kwire.pipeline.tables.calls import KEY

SESSION_MS = 9000
"""Kafka's default of `broker.session.timeout.ms`: after so long a silence a broker is fenced."""

NEAR = 0.5
"""From this share of the session timeout on, a gap is near to fencing."""


def heartbeat_gaps(messages: DataFrame, sources: DataFrame | None = None) -> DataFrame:
    """Return a row for every heartbeat.

    gap: milliseconds since the one before it of this incarnation; null for the first, and if not
    all of that time was recorded, as `sources` tell.
    """
    asked = messages.where("broker_heartbeat_request is not null").select(
        CLUSTER, *KEY, "at", "broker_heartbeat_request.*"
    )
    answered = messages.where("broker_heartbeat_response is not null").select(
        *KEY, "broker_heartbeat_response.is_fenced", "broker_heartbeat_response.error_code"
    )
    life = Window.partitionBy(CLUSTER, "broker_id", "broker_epoch", "stretch").orderBy("at")
    before = f.lag("at").over(life)
    gap = (f.unix_micros("at") - f.unix_micros(before)) / 1000
    placed = _with_stretch(asked, sources).withColumn("gap", gap).drop("stretch")
    return placed.join(answered, list(KEY), "left")


def _with_stretch(asked: DataFrame, sources: DataFrame | None) -> DataFrame:
    """Add `stretch`, the begin of the recorded time that a heartbeat is in."""
    if sources is None:
        return asked.withColumn("stretch", f.lit(0))
    stretches = recorded(sources).select(
        f.col(CLUSTER).alias("_cluster"), f.col("begin").alias("stretch"), "end"
    )
    ours = f.col(CLUSTER).eqNullSafe(f.col("_cluster"))
    inside = ours & (f.col("at") >= f.col("stretch")) & (f.col("at") <= f.col("end"))
    return asked.join(f.broadcast(stretches), inside, "left").drop("_cluster", "end")


def heartbeats(
    messages: DataFrame, sources: DataFrame | None = None, *, session_ms: int = SESSION_MS
) -> DataFrame:
    """Return a row for every broker of a cluster, from its requests to any controller; nearest to
    fencing first.

    heartbeats: how many. p99_gap_ms, longest_gap_ms: between one and the next of one incarnation.
    near: gaps of half the session timeout or more. over: gaps that no session outlives. closest:
    the longest gap as a share of the session timeout. fenced: answers that say it is fenced.
    refused: answers with an error code. stopping: requests for a controlled shutdown.
    """
    by_broker = (
        heartbeat_gaps(messages, sources)
        .groupBy(CLUSTER, "broker_id")
        .agg(
            f.count(f.lit(1)).alias("heartbeats"),
            f.percentile_approx("gap", 0.99).alias("p99_gap_ms"),
            f.max("gap").alias("longest_gap_ms"),
            f.count_if(f.col("gap") >= session_ms * NEAR).alias("near"),
            f.count_if(f.col("gap") >= session_ms).alias("over"),
            (f.max("gap") / session_ms).alias("closest"),
            f.count_if("is_fenced").alias("fenced"),
            f.count_if(f.col("error_code") != 0).alias("refused"),
            f.count_if("want_shut_down").alias("stopping"),
        )
    )
    return by_broker.orderBy(f.desc_nulls_last("closest"), CLUSTER, "broker_id")
