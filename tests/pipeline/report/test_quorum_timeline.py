"""The report's quorum timeline equals what was done to the quorum."""

from datetime import UTC, datetime

import pytest

from pipeline.report.quorum_timeline import QuorumTimeline, quorum_timeline
from tests.pipeline.conftest import Tables
from tests.pipeline.history import JOINED, VOTERS, History

CLOCK = 0.002
"""Seconds: a log tells milliseconds, a capture microseconds."""


@pytest.fixture(scope="module")
def told(tables: Tables) -> QuorumTimeline:
    found = quorum_timeline(tables["quorum"])
    assert found is not None
    return found


def unix(at: datetime | None) -> float:
    assert at is not None
    return at.replace(tzinfo=UTC).timestamp()


def test_the_killed_leader_leaves_a_gap_until_the_next_leads(
    told: QuorumTimeline, history: History
) -> None:
    killed, returned = history.did("killed"), history.did("returned")
    before = [term for term in told.terms if unix(term.begin) < killed.began][-1]
    after = told.terms[told.terms.index(before) + 1]
    assert [before.leader_id, after.leader_id] == history.leaders
    assert before.leader_id == killed.node_id
    (gap,) = (gap for gap in told.gaps if gap.end == after.begin)
    assert gap.begin == before.end
    assert killed.began - 10 < unix(gap.begin) < killed.ended
    assert killed.ended < unix(gap.end) < returned.began


def test_leaders_won_the_votes_that_are_shown(told: QuorumTimeline, history: History) -> None:
    voted = {(vote.epoch, vote.candidate) for vote in told.votes if vote.granted and not vote.pre}
    assert voted >= {(term.epoch, term.leader_id) for term in told.terms}
    assert {vote.voter for vote in told.votes} <= set(VOTERS)


def test_the_voter_that_joined_is_added_and_removed(told: QuorumTimeline, history: History) -> None:
    steps = [one for one in told.changes if one.replica_id is not None]
    assert [(one.change, one.replica_id) for one in steps] == [
        ("ADDED", JOINED),
        ("REMOVED", JOINED),
    ]
    assert [one.voters for one in steps] == [[*VOTERS, JOINED], [*VOTERS]]
    for step, what in zip(steps, ("added", "removed"), strict=True):
        deed = history.did(what)
        assert deed.began < unix(step.asked) < unix(step.at) + CLOCK
        assert unix(step.at) < deed.ended
        assert unix(step.committed) + CLOCK > unix(step.at)
    assert told.nodes == [*VOTERS, JOINED]
