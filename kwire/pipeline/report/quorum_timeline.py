"""The course of the metadata quorum: leaders, votes and changes of the voter set over time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.elections import leaderless
from kwire.pipeline.analyses.recorded import recorded
from kwire.pipeline.analyses.voter_changes import voter_changes
from kwire.pipeline.report.span import Gap, unrecorded
from kwire.pipeline.report.style import utc

VOTES = 2000
"""Votes that are drawn at most: more could not be told apart in the picture."""


@dataclass(frozen=True, slots=True)
class LeaderEpoch:
    """The time a node led. end: the last sign of it, or the end of the recording."""

    epoch: int
    leader_id: int
    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Leaderless:
    """The time without a leader before an epoch, from the last sign of the leader before it.

    milliseconds: as much of it as was recorded, in these pieces.
    """

    next_epoch: LeaderEpoch
    milliseconds: float
    pieces: list[Gap]


@dataclass(frozen=True, slots=True)
class Vote:
    """An answer to a candidate. pre: to one that only asks whether it could win (KIP-996)."""

    at: datetime
    epoch: int
    candidate: int
    voter: int
    granted: bool
    pre: bool


@dataclass(frozen=True, slots=True)
class VoterSetChange:
    """A VotersRecord. change: `ADDED`, `REMOVED`, `UPDATED`; replica_id: None for an update."""

    at: datetime
    change: str
    replica_id: int | None
    asked: datetime | None
    committed: datetime | None
    voters: list[int]


@dataclass(frozen=True, slots=True)
class QuorumTimeline:
    """Events, each list in its order. begin, end: of all of them. nodes: all that are named.

    gaps: times without a leader, as far as recorded. unrecorded: times without a recording.
    """

    begin: datetime
    end: datetime
    epochs: list[LeaderEpoch]
    gaps: list[Leaderless]
    unrecorded: list[Gap]
    votes: list[Vote]
    changes: list[VoterSetChange]
    nodes: list[int]


def quorum_timeline(quorum: DataFrame, sources: DataFrame | None) -> QuorumTimeline | None:
    """Return the timeline of a cluster, whose tables these are; None if `quorum` has no row.

    sources: None for tables that older versions wrote; all time counts as recorded.

    1. A leader's epoch begins with its LeaderChangeMessage, and ends with the last sign of it
       before the next one's.
    2. If there are captures, the picture spans them: a log may be months older.
    """
    # 2.
    spans = quorum.groupBy((f.col("source") == "CAPTURE").alias("heard")).agg(
        f.min("at").alias("begin"), f.max("at").alias("end")
    )
    span = max(spans.collect(), key=lambda row: bool(row.heard), default=None)
    if span is None:
        return None
    begin, end = utc(span.begin), utc(span.end)
    # 1.
    rows = leaderless(quorum, sources).where("leader_id is not null").collect()
    epochs = _leader_epochs(rows, end)
    gaps = [
        Leaderless(
            epoch,
            row.leaderless_ms,
            [Gap(utc(piece.begin), utc(piece.end)) for piece in row.pieces],
        )
        for epoch, row in zip(epochs, rows, strict=True)
        if row.leaderless_ms
    ]
    pauses = () if sources is None else unrecorded(recorded(sources))
    missing = [gap for gap in pauses if gap.begin >= begin and gap.end <= end]
    changes = [_change(row) for row in voter_changes(quorum).collect()]
    votes = _votes(quorum)
    nodes = {node for vote in votes for node in (vote.candidate, vote.voter)}
    nodes |= {epoch.leader_id for epoch in epochs} | {
        voter for change in changes for voter in change.voters
    }
    nodes |= {change.replica_id for change in changes if change.replica_id is not None}
    return QuorumTimeline(begin, end, epochs, gaps, missing, votes, changes, sorted(nodes))


def _leader_epochs(rows: list[Row], end: datetime) -> list[LeaderEpoch]:
    epochs = []
    for row, after in zip_longest(rows, rows[1:]):
        begin = utc(row.at)
        last = end if after is None else min(utc(after.heard or after.at), utc(after.at))
        epochs.append(LeaderEpoch(row.epoch, row.leader_id, begin, max(begin, last)))
    return epochs


def _votes(quorum: DataFrame) -> list[Vote]:
    asked = quorum.where(
        "source = 'CAPTURE' and what in ('VOTE', 'PRE_VOTE') and granted is not null"
        " and replica_id is not null and node_id is not null"
    )
    return [
        Vote(
            *(utc(row.at), row.epoch, row.replica_id, row.node_id),
            granted=row.granted,
            pre=row.what == "PRE_VOTE",
        )
        for row in asked.orderBy("at").limit(VOTES).collect()
    ]


def _change(row: Row) -> VoterSetChange:
    asked, committed = (None if at is None else utc(at) for at in (row.asked, row.committed))
    voters = sorted(row.voters)
    return VoterSetChange(utc(row.appended), row.change, row.replica_id, asked, committed, voters)
