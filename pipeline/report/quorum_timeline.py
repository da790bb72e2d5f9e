"""How the metadata quorum lived: who led when, who voted for whom, who came and went."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from pipeline.analyses.elections import elections
from pipeline.analyses.voter_changes import voter_changes
from pipeline.report.look import utc

VOTES = 2000
"""As many are drawn; a quorum that votes more often has other troubles."""


@dataclass(frozen=True, slots=True)
class Term:
    """A node led. end: the last sign of it, or the end of what was recorded."""

    epoch: int
    leader_id: int
    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Gap:
    """Nobody led, from the last sign of one leader to the next."""

    begin: datetime
    end: datetime

    @property
    def milliseconds(self) -> float:
        """How long."""
        return (self.end - self.begin) / timedelta(milliseconds=1)


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
class Change:
    """A VotersRecord. change: `ADDED`, `REMOVED`, `UPDATED`; replica_id: None for an update."""

    at: datetime
    change: str
    replica_id: int | None
    asked: datetime | None
    committed: datetime | None
    voters: list[int]


@dataclass(frozen=True, slots=True)
class QuorumTimeline:
    """Each in its order. begin, end: of all that is told of. nodes: all that are named."""

    begin: datetime
    end: datetime
    terms: list[Term]
    gaps: list[Gap]
    votes: list[Vote]
    changes: list[Change]
    nodes: list[int]


def quorum_timeline(quorum: DataFrame) -> QuorumTimeline | None:
    """Of a table `quorum`; None where it is empty.

    1. A leader's term begins with its LeaderChangeMessage, and ends with the gap before the next.
    2. Where there are captures, the picture spans them: a log may be months older.
    """
    spans = quorum.groupBy((f.col("source") == "CAPTURE").alias("heard")).agg(
        f.min("at").alias("begin"), f.max("at").alias("end")
    )
    span = max(spans.collect(), key=lambda row: bool(row.heard), default=None)
    if span is None:
        return None
    begin, end = utc(span.begin), utc(span.end)
    terms, gaps = _terms(elections(quorum).where("leader_id is not null").collect(), end)
    changes = [_change(row) for row in voter_changes(quorum).collect()]
    votes = _votes(quorum)
    nodes = {node for vote in votes for node in (vote.candidate, vote.voter)}
    nodes |= {term.leader_id for term in terms} | {one for each in changes for one in each.voters}
    nodes |= {each.replica_id for each in changes if each.replica_id is not None}
    return QuorumTimeline(begin, end, terms, gaps, votes, changes, sorted(nodes))


def _terms(rows: list[Row], end: datetime) -> tuple[list[Term], list[Gap]]:
    gaps = [
        Gap(utc(row.at) - timedelta(milliseconds=row.leaderless_ms), utc(row.at))
        for row in rows
        if row.leaderless_ms
    ]
    quiet = {gap.end: gap.begin for gap in gaps}
    begins = [utc(row.at) for row in rows]
    ends = [quiet.get(begin, begin) for begin in begins[1:]] + [max([end, *begins[-1:]])]
    terms = [
        Term(row.epoch, row.leader_id, begin, max(begin, last))
        for row, begin, last in zip(rows, begins, ends, strict=True)
    ]
    return terms, gaps


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


def _change(row: Row) -> Change:
    asked, committed = (None if at is None else utc(at) for at in (row.asked, row.committed))
    voters = sorted(row.voters)
    return Change(utc(row.appended), row.change, row.replica_id, asked, committed, voters)
