"""The time that was recorded; nothing can be said about any other."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as f

LOST_US = 1_000_000
"""Events that are missing for less than this, in microseconds, make no gap: a recorder that is too
slow loses some of them.
"""


def recorded(frames: DataFrame) -> DataFrame:
    """Return a row for every stretch of time that was recorded, in their order: begin, end.

    1. A recording is a stretch, from its first frame to its last. Its events are numbered: if
       numbers are missing, a file of it is not here, and it is two stretches.
    2. Stretches that overlap, of several recordings, are one.
    """
    known = frames.where("capture is not null and event is not null and at is not null")
    timed = known.select("capture", "event", f.unix_micros("at").alias("us"))
    order = Window.partitionBy("capture").orderBy("event", "us")
    latest = f.max("us").over(order.rowsBetween(Window.unboundedPreceding, -1))
    missing = f.col("event") - f.lag("event").over(order) > 1
    cut = f.when(missing & (f.col("us") - latest >= LOST_US), 1).otherwise(0)
    # 1.
    parts = _joined(timed.withColumn("cut", cut), order, "capture")
    # 2.
    order = Window.orderBy("begin", "end")
    before = f.max("end").over(order.rowsBetween(Window.unboundedPreceding, -1))
    cut = f.when(f.col("begin") > before, 1).otherwise(0)
    stretches = _joined(parts.withColumn("cut", cut), order)
    return stretches.select(
        f.timestamp_micros("begin").alias("begin"), f.timestamp_micros("end").alias("end")
    ).orderBy("begin")


def _joined(rows: DataFrame, order: WindowSpec, *by: str) -> DataFrame:
    """Return the first and the last time of the rows between one cut and the next."""
    begin, end = ("begin", "end") if "begin" in rows.columns else ("us", "us")
    numbered = rows.withColumn("part", f.sum("cut").over(order))
    joined = numbered.groupBy(*by, "part").agg(f.min(begin).alias("begin"), f.max(end).alias("end"))
    return joined.select("begin", "end")
