"""The time that was recorded; nothing can be said about any other."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER

LOST_US = 1_000_000
"""Events that are missing for less than this, in microseconds, make no gap: a recorder that is too
slow loses some of them.
"""


def recorded(sources: DataFrame) -> DataFrame:
    """Return a row for every stretch of time that was recorded of a cluster: cluster_id, begin,
    end, in their order.

    1. A recording is of one cluster: if some of its stretches do not tell it, others do.
    2. The stretches of a recording that follow each other without a missing event, or with less
       than LOST_US between them, are one: files of it came into the tables one after the other.
    3. Stretches of a cluster that overlap, of several recordings, are one.
    """
    captures = sources.where(
        "kind = 'CAPTURE' and source is not null and begin is not null and end is not null"
    )
    # 1.
    known = captures.select(
        *("source", "first", "last"),
        f.max(CLUSTER).over(Window.partitionBy("source")).alias(CLUSTER),
        f.unix_micros("begin").alias("begin"),
        f.unix_micros("end").alias("end"),
    )
    # 2.
    recording = Window.partitionBy(CLUSTER, "source").orderBy("first", "last", "begin")
    missing = f.col("first") - _latest("last", recording) > 1
    cut = missing & (f.col("begin") - _latest("end", recording) >= LOST_US)
    stretches = _joined(known, cut, recording, CLUSTER, "source")
    # 3.
    cluster = Window.partitionBy(CLUSTER).orderBy("begin", "end")
    cut = f.col("begin") > _latest("end", cluster)
    return (
        _joined(stretches, cut, cluster, CLUSTER)
        .select(
            CLUSTER,
            f.timestamp_micros("begin").alias("begin"),
            f.timestamp_micros("end").alias("end"),
        )
        .orderBy(CLUSTER, "begin")
    )


def _latest(name: str, order: WindowSpec) -> Column:
    """Return the highest value in the rows before this one."""
    return f.max(name).over(order.rowsBetween(Window.unboundedPreceding, -1))


def _joined(rows: DataFrame, cut: Column, order: WindowSpec, *by: str) -> DataFrame:
    """Return begin and end of the rows between one cut and the next."""
    marked = rows.withColumn("cut", f.when(cut, 1).otherwise(0))
    numbered = marked.withColumn("part", f.sum("cut").over(order))
    joined = numbered.groupBy(*by, "part").agg(
        f.min("begin").alias("begin"), f.max("end").alias("end")
    )
    return joined.drop("part")
