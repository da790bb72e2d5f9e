"""Changes of the in-sync replicas of each partition."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER

PARTITION = (CLUSTER, "topic", "topic_id", "partition")


def isr_churn(partitions: DataFrame) -> DataFrame:
    """Return a row for every partition of a cluster, the one with most changes first.

    changes: of its state. shrinks, expansions: of its ISR. moves: to another leader than the last.
    leaderless: to none. smallest: the fewest in-sync replicas it ever had. first, last: when it
    changed. The same offsets of several copies of a cluster's log count once.
    """
    states = partitions.where("partition is not null").dropDuplicates(["offset", *PARTITION])
    before = Window.partitionBy(*PARTITION).orderBy("offset")
    replicas, earlier = f.col("isr"), f.lag("isr").over(before)
    known = earlier.isNotNull() & replicas.isNotNull()
    leader, led = f.col("leader"), f.lag("leader").over(before)
    earlier_leader = f.last(f.when(leader >= 0, leader), ignorenulls=True).over(
        before.rowsBetween(Window.unboundedPreceding, -1)
    )
    seen = states.select(
        *(*PARTITION, "at", "isr", "leader"),
        (known & (f.size(f.array_except(earlier, replicas)) > 0)).alias("shrinks"),
        (known & (f.size(f.array_except(replicas, earlier)) > 0)).alias("expands"),
        ((leader >= 0) & (earlier_leader != leader)).alias("moves"),
        ((led >= 0) & (leader < 0)).alias("loses"),
    )
    by_partition = seen.groupBy(*PARTITION).agg(
        (f.count(f.lit(1)) - 1).alias("changes"),
        f.count_if("shrinks").alias("shrinks"),
        f.count_if("expands").alias("expansions"),
        f.count_if("moves").alias("moves"),
        f.count_if("loses").alias("leaderless"),
        f.min(f.size("isr")).alias("smallest"),
        f.min("at").alias("first"),
        f.max("at").alias("last"),
    )
    return by_partition.orderBy(f.desc("changes"), *PARTITION)
