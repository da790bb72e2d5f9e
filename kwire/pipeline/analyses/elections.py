"""Leaders and candidates of the metadata quorum, and the time without a leader."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER, join
from kwire.pipeline.analyses.recorded import recorded

FETCH_MS = 1000
"""Milliseconds without a sign of a leader that say nothing: followers fetch again within 500 ms
(KIP-595), and an answer takes a moment.
"""

PIECES = "array<struct<begin timestamp, end timestamp>>"
EPOCH = (CLUSTER, "epoch")
CANDIDATES = 100
"""Candidates of an epoch that are named at most, the lowest ids: any client can ask for votes."""

MOST_PIECES = 1000
"""Pieces of a time without a leader that are kept at most, the first; all of them are counted."""


def elections(quorum: DataFrame, sources: DataFrame | None = None) -> DataFrame:
    """Return a row for each epoch of a cluster with a leader or a candidate, in their order.

    leader_id: null if no candidate won. at: begin of its lead; the first vote if no candidate won.
    granting: voters that elected it. candidates: nodes that asked for votes, CANDIDATES at most.
    granted, refused: the answers. leaderless_ms: from the last sign of the leader before to this
    one, as far as it was recorded; null if that is unknown. unrecorded_ms: time in between that
    was not recorded.
    """
    return leaderless(quorum, sources).drop("heard", "pieces")


def leaderless(quorum: DataFrame, sources: DataFrame | None = None) -> DataFrame:
    """Return the rows of `elections`, with the evidence for the times without a leader.

    1. The log tells the leader of an epoch, and who voted for it (LEADER_CHANGE); without a log,
       the node that sent BeginQuorumEpoch was its leader.
    2. The leadership begins with that record. The one before ended when its followers last heard
       of it: with the last Fetch of the metadata log that was answered in its epoch (`heard`).
    3. Between the two there was no leader, as far as it was recorded (`pieces`); without `sources`
       in all of the time. The last FETCH_MS of a recording say nothing.
    4. Requests for votes name candidates and refusals.
    """
    before = Window.partitionBy(CLUSTER).orderBy("epoch")
    before = before.rowsBetween(Window.unboundedPreceding, -1)
    # 1. 2. 4.
    epochs = _epochs(quorum).withColumn("heard", f.max("last_heard").over(before))
    epochs = epochs.where("at is not null").drop("last_heard")
    # 3.
    known = f.col("leader_id").isNotNull() & f.col("heard").isNotNull()
    begin, end = f.least("heard", "at"), f.col("at")
    if sources is None:
        whole_piece = f.array(f.struct(begin.alias("begin"), end.alias("end"))).cast(PIECES)
        spent = _ms(begin, end)
        measured = epochs.withColumns({"pieces": whole_piece, "spent": spent, "recorded": spent})
    else:
        measured = _recorded_pieces(epochs, begin, end, recorded(sources))
    missing = f.greatest(_ms(begin, end) - f.col("recorded"), f.lit(0.0))
    nothing_known = (missing > 0) & (f.size("pieces") == 0)
    return (
        measured.withColumn("leaderless_ms", f.when(known & ~nothing_known, f.col("spent")))
        .withColumn("unrecorded_ms", f.when(known, missing))
        .withColumn("pieces", f.when(known, f.col("pieces")))
        .drop("spent", "recorded")
        .orderBy(*EPOCH)
    )


def _epochs(quorum: DataFrame) -> DataFrame:
    log, capture = f.col("source") != "CAPTURE", f.col("source") == "CAPTURE"
    what, won = f.col("what"), f.col("what") == "LEADER_CHANGE"
    began = capture & (what == "BEGIN_EPOCH")
    vote = capture & (what == "VOTE")
    heard = capture & (what == "FETCH") & f.col("error").isNull()
    known = quorum.where("epoch is not null")
    epochs = known.groupBy(*EPOCH).agg(
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
        f.count_if(vote & f.col("granted")).alias("granted"),
        f.count_if(vote & ~f.col("granted")).alias("refused"),
        f.max(f.when(heard, f.col("at"))).alias("last_heard"),
    )
    named = join(epochs, _candidates(known.where(vote)), EPOCH, "left")
    none = f.array().cast("array<int>")
    return named.select(
        *(*EPOCH, "leader_id", "at", "granting"),
        f.coalesce("candidates", none).alias("candidates"),
        *("granted", "refused", "last_heard"),
    )


def _candidates(votes: DataFrame) -> DataFrame:
    """Return the candidates of each epoch."""
    nodes = votes.where("replica_id is not null").select(*EPOCH, "replica_id").distinct()
    number = f.row_number().over(Window.partitionBy(*EPOCH).orderBy("replica_id"))
    first = nodes.withColumn("number", number).where(f.col("number") <= CANDIDATES)
    candidates = f.array_sort(f.collect_list("replica_id")).alias("candidates")
    return first.groupBy(*EPOCH).agg(candidates)


def _recorded_pieces(
    epochs: DataFrame, begin: Column, end: Column, stretches: DataFrame
) -> DataFrame:
    """Add `pieces`, those between begin and end that count, `spent`, milliseconds of these, and
    `recorded`, milliseconds of all.
    """
    bounds = stretches.select(
        f.col(CLUSTER).alias("_cluster"), f.col("begin").alias("_begin"), f.col("end").alias("_end")
    )
    ours = f.col(CLUSTER).eqNullSafe(f.col("_cluster"))
    meets = ours & (f.col("_begin") <= end) & (f.col("_end") >= begin)
    first, last = f.greatest("_begin", begin), f.least("_end", end)
    cut_off = (last < end) & (_ms(first, last) < FETCH_MS)
    number = f.row_number().over(Window.partitionBy(*EPOCH).orderBy("_begin"))
    piece = f.struct(first.alias("begin"), last.alias("end"))
    kept = f.when(~cut_off & (f.col("number") <= MOST_PIECES), piece)
    overlaps = epochs.join(f.broadcast(bounds), meets, "left").withColumn("number", number)
    names = [name for name in epochs.columns if name not in EPOCH]
    return overlaps.groupBy(*EPOCH).agg(
        *(f.first(name).alias(name) for name in names),
        f.array_sort(f.collect_list(kept)).cast(PIECES).alias("pieces"),
        f.coalesce(f.sum(f.when(~cut_off, _ms(first, last))), f.lit(0.0)).alias("spent"),
        f.coalesce(f.sum(_ms(first, last)), f.lit(0.0)).alias("recorded"),
    )


def _ms(begin: Column, end: Column) -> Column:
    return (f.unix_micros(end) - f.unix_micros(begin)) / 1000
