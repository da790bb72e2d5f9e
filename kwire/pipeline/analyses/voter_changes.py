"""Changes of the voter set, step by step: from what was asked to what is committed (KIP-853)."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from kwire.pipeline.columns import lookup

ASKED = {"ADD_VOTER": "ADDED", "REMOVE_VOTER": "REMOVED", "UPDATE_VOTER": "UPDATED"}
CHANGE = ("offset", "epoch", "change", "replica_id", "appended", "voters")


def voter_changes(quorum: DataFrame) -> DataFrame:
    """Return a row for every VotersRecord that changes the set, in their order.

    1. Each VOTERS event of a log is compared with the one before it: who came, who went.
    2. The request that led to it is the last of its kind, for this replica, that was sent before
       the record was appended and was not refused.
    3. It is committed when a Fetch is answered with a high watermark above its offset.

    change: `ADDED`, `REMOVED`, or `UPDATED` where only endpoints changed. replica_id: of the voter;
    null for an update. asked, appended, committed: when. took_ms: from the request to the commit.
    voters: their ids from then on.
    """
    # 1.
    changed, requests, marks = _changed(quorum), _requests(quorum), _marks(quorum)
    ours = f.coalesce(f.col("replica_id") == f.col("of"), f.col("change") == "UPDATED")
    # 2. Timestamps of records have milliseconds: a request of the same one may have led to it.
    earlier = f.date_trunc("millisecond", "sent") <= f.col("appended")
    theirs = (f.col("change") == f.col("kind")) & ours & earlier
    asked = (
        changed.join(requests, theirs, "left").groupBy(*CHANGE).agg(f.max("sent").alias("asked"))
    )
    # 3.
    is_committed = (f.col("mark") > f.col("offset")) & (f.col("marked_at") >= f.col("appended"))
    committed = f.min("marked_at").alias("committed")
    changes = asked.join(marks, is_committed, "left").groupBy(*CHANGE, "asked").agg(committed)
    spent = (f.unix_micros("committed") - f.unix_micros("asked")) / 1000
    return changes.select(
        *("epoch", "offset", "change", "replica_id", "asked", "appended", "committed"),
        spent.alias("took_ms"),
        "voters",
    ).orderBy("offset")


def _changed(quorum: DataFrame) -> DataFrame:
    """Compare each voter set of a log with the one before it."""
    in_log = (f.col("source") != "CAPTURE") & (f.col("what") == "VOTERS")
    ids = f.transform("voters", lambda voter: voter["id"])
    sets = quorum.where(in_log).dropDuplicates(["offset", "epoch"]).withColumn("ids", ids)
    was = f.lag("ids").over(Window.orderBy("offset"))
    came, went = f.get(f.array_except("ids", "was"), 0), f.get(f.array_except("was", "ids"), 0)
    change = f.when(came.isNotNull(), "ADDED").when(went.isNotNull(), "REMOVED")
    return (
        sets.withColumn("was", was)
        .where("was is not null")
        .select(
            *("offset", "epoch", f.col("at").alias("appended"), f.col("ids").alias("voters")),
            f.coalesce(came, went).alias("replica_id"),
            change.otherwise("UPDATED").alias("change"),
        )
    )


def _requests(quorum: DataFrame) -> DataFrame:
    """Return the requests that were not refused."""
    what = f.col("what")
    return quorum.where(what.isin(*ASKED) & f.col("error").isNull()).select(
        lookup(ASKED, what).alias("kind"),
        f.col("replica_id").alias("of"),
        f.col("at").alias("sent"),
    )


def _marks(quorum: DataFrame) -> DataFrame:
    """Return the times at which a leader answered with a high watermark."""
    fetches = quorum.where((f.col("what") == "FETCH") & f.col("high_watermark").isNotNull())
    return fetches.select(f.col("at").alias("marked_at"), f.col("high_watermark").alias("mark"))
