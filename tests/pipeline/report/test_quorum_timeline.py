"""The report's quorum timeline equals what was done to the quorum."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.report.quorum import quorum_section
from kwire.pipeline.report.quorum_timeline import QuorumTimeline, quorum_timeline
from kwire.pipeline.schemas import TABLES
from tests.support.pipeline.analyses.table_rows import rows, second, stretch
from tests.support.pipeline.recorded_history import JOINED_ID, VOTER_IDS, History

CLOCK = 0.002
"""Seconds: a log tells milliseconds, a capture microseconds."""


def unix(at: datetime | None) -> float:
    assert at is not None
    return at.replace(tzinfo=UTC).timestamp()


def test_the_killed_leader_leaves_a_gap_until_the_next_leads(
    timeline: QuorumTimeline, history: History
) -> None:
    killed, returned = history.did("killed"), history.did("returned")
    before = [term for term in timeline.epochs if unix(term.begin) < killed.began][-1]
    after = timeline.epochs[timeline.epochs.index(before) + 1]
    assert [before.leader_id, after.leader_id] == history.leaders
    assert before.leader_id == killed.node_id
    (gap,) = (gap for gap in timeline.gaps if gap.next_epoch == after)
    (piece,) = gap.pieces
    assert (piece.begin, piece.end) == (before.end, after.begin)
    assert gap.milliseconds == pytest.approx(piece.milliseconds)
    assert killed.began - 10 < unix(piece.begin) < killed.ended
    assert killed.ended < unix(piece.end) < returned.began
    assert timeline.unrecorded == []


def test_leaders_won_the_votes_that_are_shown(timeline: QuorumTimeline, history: History) -> None:
    voted = {
        (vote.epoch, vote.candidate) for vote in timeline.votes if vote.granted and not vote.pre
    }
    assert voted >= {(term.epoch, term.leader_id) for term in timeline.epochs}
    assert {vote.voter for vote in timeline.votes} <= set(VOTER_IDS)


def test_the_voter_that_joined_is_added_and_removed(
    timeline: QuorumTimeline, history: History
) -> None:
    steps = [change for change in timeline.changes if change.replica_id is not None]
    assert [(one.change, one.replica_id) for one in steps] == [
        ("ADDED", JOINED_ID),
        ("REMOVED", JOINED_ID),
    ]
    assert [one.voters for one in steps] == [[*VOTER_IDS, JOINED_ID], [*VOTER_IDS]]
    for step, what in zip(steps, ("added", "removed"), strict=True):
        deed = history.did(what)
        assert deed.began < unix(step.asked) < unix(step.at) + CLOCK
        assert unix(step.at) < deed.ended
        assert unix(step.committed) + CLOCK > unix(step.at)
    assert timeline.nodes == [*VOTER_IDS, JOINED_ID]


def quorum_rows(spark: SparkSession, *found: dict[str, Any]) -> DataFrame:
    """Rows of the table `quorum`, whole, as the report asks for any of its columns."""
    return rows(spark, "quorum", *found, columns=" ".join(TABLES["quorum"].names))


def test_a_quorum_in_which_no_election_was_recorded_is_drawn(spark: SparkSession) -> None:
    described = {"source": "CAPTURE", "what": "DESCRIBE", "epoch": 3, "leader_id": 1, "node_id": 1}
    vote = {"source": "CAPTURE", "what": "VOTE", "epoch": 3, "node_id": 1, "granted": False}
    sources = rows(spark, "sources", columns="kind source first last begin end")
    alone = quorum_rows(spark, described | {"at": second(0)}, described | {"at": second(9)})
    assert (
        quorum_section(alone, sources).finding == "The tables have nothing about a metadata quorum."
    )
    lost = quorum_rows(
        spark, described | {"at": second(0)}, vote | {"at": second(1), "replica_id": 2}
    )
    section = quorum_section(lost, sources)
    assert section.finding == "No election was recorded"
    assert len(section.figures) == 1


def test_time_that_was_not_recorded_is_a_gap_with_its_name(spark: SparkSession) -> None:
    """Two recordings; the leader changed between them, and again in the second."""
    sources = rows(spark, "sources", stretch("a", 0, 3), stretch("b", 3600, 3609))
    fetch = {"source": "CAPTURE", "what": "FETCH"}
    leader = {"source": "LOG", "what": "LEADER_CHANGE"}
    quorum = quorum_rows(
        spark,
        leader | {"at": second(0), "epoch": 1, "leader_id": 1},
        fetch | {"at": second(2.9), "epoch": 1},
        leader | {"at": second(2000), "epoch": 2, "leader_id": 2},
        fetch | {"at": second(3602), "epoch": 2},
        leader | {"at": second(3605.5), "epoch": 3, "leader_id": 3},
        fetch | {"at": second(3609), "epoch": 3},
    )
    timeline = quorum_timeline(quorum, sources)
    assert timeline is not None
    assert [gap.milliseconds for gap in timeline.gaps] == [3500.0]
    assert [(unix(gap.begin), unix(gap.end)) for gap in timeline.unrecorded] == [
        (second(3).timestamp(), second(3600).timestamp())
    ]
    assert [unix(term.end) for term in timeline.epochs] == [
        second(end).timestamp() for end in (2.9, 3602, 3609)
    ]
    section = quorum_section(quorum, sources)
    assert section.finding == (
        "3 leaders, node 3 took over after 3.5 s without one, nothing recorded for 59 min 57 s"
    )
    legend = {trace.name for trace in section.figures[0].data}
    assert legend >= {"no leader: 3.5 s", "nothing recorded: 59 min 57 s"}
    texts = [annotation.text for annotation in section.figures[0].layout.annotations]
    assert texts == ["<b>no leader</b> 3.5 s", "<b>nothing recorded</b> 59 min 57 s"]
