"""Who led the metadata quorum, who wanted to, and how long nobody did."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f


def elections(quorum: DataFrame) -> DataFrame:
    """In the order of the epochs: a row for each in which somebody led or was a candidate.

    1. The log tells the leader of an epoch, and who voted for it (LEADER_CHANGE); where no log is
       at hand, whoever began the epoch was its leader.
    2. The leadership begins with that record. The one before ended when its followers last heard
       of it: with the last Fetch of the metadata log that was answered in its epoch.
    3. Votes that were asked for tell of candidates and refusals.

    leader_id: null where nobody won. at: from when it led; of the first vote where nobody did.
    granting: voters that elected it. candidates: who asked for votes. granted, refused: answers to
    them. leaderless_ms: from the last sign of the leader before to this one; null where unknown.
    """
    log, capture = f.col("source") != "CAPTURE", f.col("source") == "CAPTURE"
    what, won = f.col("what"), f.col("what") == "LEADER_CHANGE"
    began = capture & (what == "BEGIN_EPOCH")
    vote = capture & (what == "VOTE")
    heard = capture & (what == "FETCH") & f.col("error").isNull()
    found = (
        quorum.where("epoch is not null")
        .groupBy("epoch")
        .agg(
            f.coalesce(
                f.min_by("leader_id", f.when(log & won, f.col("at"))),
                f.min_by("leader_id", f.when(began, f.col("at"))),
            ).alias("leader_id"),
            f.coalesce(
                f.min(f.when(log & won, f.col("at"))),
                f.min(f.when(began, f.col("at"))),
                f.min(f.when(vote, f.col("at"))),
            ).alias("at"),
            f.min_by("granting", f.when(log & won, f.col("at"))).alias("granting"),
            f.array_sort(f.collect_set(f.when(vote, f.col("replica_id")))).alias("candidates"),
            f.count_if(vote & f.col("granted")).alias("granted"),
            f.count_if(vote & ~f.col("granted")).alias("refused"),
            f.max(f.when(heard, f.col("at"))).alias("heard"),
        )
    )
    before = Window.orderBy("epoch").rowsBetween(Window.unboundedPreceding, -1)
    spent = f.unix_micros("at") - f.unix_micros(f.max("heard").over(before))
    known = f.col("leader_id").isNotNull() & spent.isNotNull()
    leaderless = f.when(known, f.greatest(spent, f.lit(0)) / 1000)
    return (
        found.where("at is not null")
        .withColumn("leaderless_ms", leaderless)
        .drop("heard")
        .orderBy("epoch")
    )
