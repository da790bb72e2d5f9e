"""Changes of the voter set, step by step: from what was asked to what is committed (KIP-853)."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

ASKED = {"ADD_VOTER": "ADDED", "REMOVE_VOTER": "REMOVED", "UPDATE_VOTER": "UPDATED"}


def voter_changes(quorum: DataFrame) -> DataFrame:
    """In their order: a row for every VotersRecord that changes the set.

    1. Each VOTERS event of a log is compared with the one before it: who came, who went.
    2. The request that led to it is the last of its kind, for this replica, that was sent before
       the record was appended and was not refused.
    3. It is committed when a Fetch is answered with a high watermark behind its offset.

    change: `ADDED`, `REMOVED`, or `UPDATED` where only endpoints changed. replica_id: of the voter;
    null for an update. asked, appended, committed: when. took_ms: from the request to the commit.
    voters: their ids from then on.
    """
    log, capture = f.col("source") != "CAPTURE", f.col("source") == "CAPTURE"
    sets = quorum.where(log & (f.col("what") == "VOTERS")).dropDuplicates(["offset", "epoch"])
    ids = f.transform("voters", lambda one: one["id"])
    was = f.lag("ids").over(Window.orderBy("offset"))
    changed = (
        sets.withColumn("ids", ids)
        .withColumn("was", was)
        .where("was is not null")
        .select(
            *("epoch", "offset", f.col("at").alias("appended"), f.col("ids").alias("voters")),
            f.get(f.array_except("ids", "was"), 0).alias("came"),
            f.get(f.array_except("was", "ids"), 0).alias("went"),
        )
        .select(
            *("epoch", "offset", "appended", "voters"),
            f.coalesce("came", "went").alias("replica_id"),
            f.when(f.col("came").isNotNull(), "ADDED")
            .when(f.col("went").isNotNull(), "REMOVED")
            .otherwise("UPDATED")
            .alias("change"),
        )
    )
    kind = f.create_map(*(f.lit(one) for pair in ASKED.items() for one in pair))
    requests = quorum.where(capture & f.col("what").isin(*ASKED) & f.col("error").isNull()).select(
        kind[f.col("what")].alias("change"),
        f.col("replica_id").alias("of"),
        f.col("at").alias("asked"),
    )
    marks = quorum.where(capture & (f.col("what") == "FETCH")).select(
        f.col("at").alias("committed"), f.col("high_watermark").alias("mark")
    )
    c, r = changed.alias("c"), requests.alias("r")
    theirs = (
        (f.col("c.change") == f.col("r.change"))
        & (f.coalesce(f.col("c.replica_id") == f.col("of"), f.col("c.change") == "UPDATED"))
        & (f.col("asked") <= f.col("appended"))
    )
    row = [f.col(f"c.{name}") for name in ("offset", "epoch", "change", "replica_id", "appended")]
    asked = c.join(r, theirs, "left").groupBy(*row, "voters").agg(f.max("asked").alias("asked"))
    behind = (f.col("mark") > f.col("offset")) & (f.col("committed") >= f.col("appended"))
    found = (
        asked.join(marks, behind, "left")
        .groupBy("offset", "epoch", "change", "replica_id", "asked", "appended", "voters")
        .agg(f.min("committed").alias("committed"))
    )
    spent = (f.unix_micros("committed") - f.unix_micros("asked")) / 1000
    return found.select(
        *("epoch", "offset", "change", "replica_id", "asked", "appended", "committed"),
        spent.alias("took_ms"),
        "voters",
    ).orderBy("offset")
