"""Leaders and candidates of the metadata quorum, and the time without a leader."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from kwire.pipeline.analyses.recorded import recorded

FETCH_MS = 1000
"""Milliseconds without a sign of a leader that say nothing: followers fetch again within 500 ms
(KIP-595), and an answer takes a moment.
"""

PIECES = "array<struct<begin timestamp, end timestamp>>"


def elections(quorum: DataFrame, frames: DataFrame | None = None) -> DataFrame:
    """Return a row for each epoch with a leader or a candidate, in their order.

    leader_id: null if no candidate won. at: begin of its lead; the first vote if no candidate won.
    granting: voters that elected it. candidates: nodes that asked for votes. granted, refused: the
    answers. leaderless_ms: from the last sign of the leader before to this one, as far as it was
    recorded; null if that is unknown. unrecorded_ms: time in between of which there is no frame.
    """
    return leaderless(quorum, frames).drop("heard", "pieces")


def leaderless(quorum: DataFrame, frames: DataFrame | None = None) -> DataFrame:
    """Return the rows of `elections`, with the evidence for the times without a leader.

    1. The log tells the leader of an epoch, and who voted for it (LEADER_CHANGE); without a log,
       the node that sent BeginQuorumEpoch was its leader.
    2. The leadership begins with that record. The one before ended when its followers last heard
       of it: with the last Fetch of the metadata log that was answered in its epoch (`heard`).
    3. Between the two there was no leader, as far as it was recorded (`pieces`); without `frames`
       in all of the time. The last FETCH_MS of a recording say nothing.
    4. Requests for votes name candidates and refusals.
    """
    before = Window.orderBy("epoch").rowsBetween(Window.unboundedPreceding, -1)
    # 1. 2. 4.
    epochs = _epochs(quorum).withColumn("heard", f.max("last_heard").over(before))
    epochs = epochs.where("at is not null").drop("last_heard")
    # 3.
    known = f.col("leader_id").isNotNull() & f.col("heard").isNotNull()
    begin, end = f.least("heard", "at"), f.col("at")
    whole_piece = f.array(f.struct(begin.alias("begin"), end.alias("end"))).cast(PIECES)
    if frames is None:
        measured = epochs.withColumn("pieces", whole_piece).withColumn("recorded", _ms(begin, end))
    else:
        measured = _recorded_pieces(epochs, begin, end, recorded(frames))
    spent = f.aggregate(
        "pieces", f.lit(0.0), lambda sum, piece: sum + _ms(piece["begin"], piece["end"])
    )
    missing = f.greatest(_ms(begin, end) - f.col("recorded"), f.lit(0.0))
    nothing_known = (missing > 0) & (f.size("pieces") == 0)
    return (
        measured.withColumn("leaderless_ms", f.when(known & ~nothing_known, spent))
        .withColumn("unrecorded_ms", f.when(known, missing))
        .withColumn("pieces", f.when(known, f.col("pieces")))
        .drop("recorded")
        .orderBy("epoch")
    )


def _epochs(quorum: DataFrame) -> DataFrame:
    log, capture = f.col("source") != "CAPTURE", f.col("source") == "CAPTURE"
    what, won = f.col("what"), f.col("what") == "LEADER_CHANGE"
    began = capture & (what == "BEGIN_EPOCH")
    vote = capture & (what == "VOTE")
    heard = capture & (what == "FETCH") & f.col("error").isNull()
    return (
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
            f.max(f.when(heard, f.col("at"))).alias("last_heard"),
        )
    )


def _recorded_pieces(
    epochs: DataFrame, begin: Column, end: Column, stretches: DataFrame
) -> DataFrame:
    """Add `pieces`, those between begin and end that count, and `recorded`, milliseconds of all."""
    bounds = stretches.select(f.col("begin").alias("_begin"), f.col("end").alias("_end"))
    meets = (f.col("_begin") <= end) & (f.col("_end") >= begin)
    first, last = f.greatest("_begin", begin), f.least("_end", end)
    cut_off = (last < end) & (_ms(first, last) < FETCH_MS)
    piece = f.struct(first.alias("begin"), last.alias("end"))
    overlaps = epochs.join(f.broadcast(bounds), meets, "left")
    names = [name for name in epochs.columns if name != "epoch"]
    return overlaps.groupBy("epoch").agg(
        *(f.first(name).alias(name) for name in names),
        f.array_sort(f.collect_list(f.when(~cut_off, piece))).cast(PIECES).alias("pieces"),
        f.coalesce(f.sum(_ms(first, last)), f.lit(0.0)).alias("recorded"),
    )


def _ms(begin: Column, end: Column) -> Column:
    return (f.unix_micros(end) - f.unix_micros(begin)) / 1000
