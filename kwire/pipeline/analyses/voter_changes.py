"""Changes of the voter set, step by step: from what was asked to what is committed (KIP-853)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER, join
from kwire.pipeline.spark_columns import lookup

ASKED = {"ADD_VOTER": "ADDED", "REMOVE_VOTER": "REMOVED", "UPDATE_VOTER": "UPDATED"}
RECORD = (CLUSTER, "offset", "epoch")
FOLLOWED = 10_000
"""Changes of a cluster whose commit is looked for, the last ones: every fetch is compared with
each of them. A quorum has a few in its life.
"""


def voter_changes(quorum: DataFrame) -> DataFrame:
    """Return a row for every VotersRecord that changes the set, in their order.

    1. Each VOTERS event of a log is compared with the one before it: who came, who went.
    2. The request that led to it is the last of its kind, for this replica, that was sent before
       the record was appended and was not refused.
    3. It is committed when a Fetch is answered with a high watermark above its offset.

    change: `ADDED`, `REMOVED`, or `UPDATED` where only endpoints changed. replica_id: of the voter;
    null for an update. asked, appended, committed: when; the last is null for all but the last
    FOLLOWED changes of a cluster. took_ms: from the request to the commit. voters: their ids from
    then on.
    """
    # 1.
    changed = _changed(quorum)
    # 2.
    asked = _with_asked(changed, _requests(quorum))
    # 3.
    changes = join(asked, _committed(changed, _marks(quorum)), RECORD, "left")
    spent = (f.unix_micros("committed") - f.unix_micros("asked")) / 1000
    return changes.select(
        *(CLUSTER, "epoch", "offset", "change", "replica_id", "asked", "appended", "committed"),
        spent.alias("took_ms"),
        "voters",
    ).orderBy(CLUSTER, "offset")


def _changed(quorum: DataFrame) -> DataFrame:
    """Compare each voter set of a log with the one before it; copies of a log count once."""
    in_log = (f.col("source") != "CAPTURE") & (f.col("what") == "VOTERS")
    ids = f.transform("voters", lambda voter: voter["id"])
    sets = quorum.where(in_log).dropDuplicates([*RECORD]).withColumn("ids", ids)
    was = f.lag("ids").over(Window.partitionBy(CLUSTER).orderBy("offset", "epoch"))
    came, went = f.get(f.array_except("ids", "was"), 0), f.get(f.array_except("was", "ids"), 0)
    change = f.when(came.isNotNull(), "ADDED").when(went.isNotNull(), "REMOVED")
    return (
        sets.withColumn("was", was)
        .where("was is not null")
        .select(
            *(*RECORD, f.col("at").alias("appended"), f.col("ids").alias("voters")),
            f.coalesce(came, went).alias("replica_id"),
            change.otherwise("UPDATED").alias("change"),
        )
    )


def _requests(quorum: DataFrame) -> DataFrame:
    """Return the requests that were not refused. replica_id: null for updates, as in a change."""
    what = f.col("what")
    kind = lookup(ASKED, what)
    return quorum.where(what.isin(*ASKED) & f.col("error").isNull()).select(
        CLUSTER,
        kind.alias("change"),
        f.when(kind != "UPDATED", f.col("replica_id")).alias("replica_id"),
        f.col("at").alias("sent"),
    )


def _with_asked(changed: DataFrame, requests: DataFrame) -> DataFrame:
    """Add `asked` to the changes, in one pass over changes and requests by time."""
    # Timestamps of records have milliseconds: a request of the same one may have led to it.
    moment = f.coalesce(f.date_trunc("millisecond", "sent"), "appended")
    both = changed.unionByName(requests, allowMissingColumns=True).withColumn("moment", moment)
    # The frame ends with the last row of the same moment.
    until_now = Window.partitionBy(CLUSTER, "change", "replica_id").orderBy("moment")
    asked = both.withColumn("asked", f.max("sent").over(until_now))
    return asked.where("offset is not null").drop("sent", "moment")


def _marks(quorum: DataFrame) -> DataFrame:
    """Return the times at which a leader answered with a high watermark."""
    fetches = quorum.where((f.col("what") == "FETCH") & f.col("high_watermark").isNotNull())
    return fetches.select(
        CLUSTER, f.col("at").alias("marked_at"), f.col("high_watermark").alias("mark")
    )


def _committed(changed: DataFrame, marks: DataFrame) -> DataFrame:
    """Return `committed` of each change that was: the first time, not before it was appended, of
    a high watermark above its offset.

    Neither rises with the other: clocks of nodes differ, and a leader may tell an old watermark.

    1. The few changes of a cluster are an array beside each of its fetches.
    2. Fetches that stand behind the same number of changes in time, and above the same number of
       them in the log, commit the same ones: the first of them is kept.
    3. Each of those is compared with each change.
    """
    # 1.
    latest = Window.partitionBy(CLUSTER).orderBy(f.desc("offset"), f.desc("epoch"))
    followed = changed.withColumn("number", f.row_number().over(latest)).where(
        f.col("number") <= FOLLOWED
    )
    beside = followed.groupBy(CLUSTER).agg(
        f.collect_list(f.struct("offset", "epoch", "appended")).alias("changes")
    )
    fetches = join(marks, f.broadcast(beside), [CLUSTER])
    # 2.
    begun = f.filter("changes", _is_appended)
    passed = f.filter("changes", _is_below)
    first = fetches.groupBy(CLUSTER, f.size(begun).alias("begun"), f.size(passed).alias("passed"))
    fewer = first.agg(f.min("marked_at").alias("marked_at"), f.min("mark").alias("mark"))
    # 3.
    reached = f.filter("changes", lambda change: _is_appended(change) & _is_below(change))
    return (
        join(fewer, f.broadcast(beside), [CLUSTER])
        .select(CLUSTER, "marked_at", f.explode(reached).alias("reached"))
        .groupBy(CLUSTER, "reached.offset", "reached.epoch")
        .agg(f.min("marked_at").alias("committed"))
    )


def _is_appended(change: Column) -> Column:
    return change["appended"] <= f.col("marked_at")


def _is_below(change: Column) -> Column:
    return change["offset"] < f.col("mark")
