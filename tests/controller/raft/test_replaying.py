"""Nobody stands for election while its state machine replays."""

import pytest

from kwire.controller.raft import ElectionState, Replaying
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from tests.support.controller.raft.single_replica import SingleReplica, vote_request
from tests.support.controller.raft.virtual_network import key, voter_set

LONG = 60_000
CAUGHT_UP = Replaying(is_replaying=False)


@pytest.mark.parametrize(
    "election",
    [
        None,
        ElectionState(epoch=3, voted_key=key(1)),
        ElectionState(epoch=3, leader_id=2),
        ElectionState(epoch=3, leader_id=1),
    ],
    ids=["no file", "voted for itself", "a leader", "led"],
)
def test_a_voter_does_not_stand_before_it_has_replayed(election: ElectionState | None) -> None:
    solo = SingleReplica(election=election, is_replaying=True)
    for _ in range(10):
        solo.after(LONG)
    assert solo.sent(VoteRequest) == []
    assert solo.raft.role in ("unattached", "follower")

    solo.step(CAUGHT_UP)
    solo.after(LONG)
    assert solo.sent(VoteRequest)


def test_the_only_voter_leads_as_soon_as_it_has_replayed() -> None:
    solo = SingleReplica(voters=voter_set(1), is_replaying=True)
    solo.after(LONG)
    assert solo.raft.role == "unattached"
    solo.step(CAUGHT_UP)
    assert solo.raft.role == "leader"


def test_who_catches_up_behind_its_timeout_waits_for_another_one_at_random() -> None:
    """Replicas that started together catch up together: they must not stand in one millisecond."""
    solo = SingleReplica(is_replaying=True)
    solo.after(LONG)
    solo.raft._replica.random_below = lambda limit: limit - 1
    solo.step(CAUGHT_UP)
    assert solo.raft.role == "unattached"
    assert solo.raft.deadline is not None
    assert solo.now < solo.raft.deadline <= solo.now + solo.config.election_timeout_ms


def test_who_replays_votes_and_looks_for_the_leader() -> None:
    solo = SingleReplica(is_replaying=True, bootstrap_servers=(("localhost", 9992),))
    assert solo.sent(FetchRequest)
    (answer,) = solo.ask(vote_request(5))
    assert isinstance(answer, VoteResponse)
    assert answer.topics[0].partitions[0].vote_granted


def test_a_follower_that_falls_behind_leaves_the_election_to_others() -> None:
    solo = SingleReplica(election=ElectionState(epoch=3, leader_id=2))
    solo.step(Replaying(is_replaying=True))
    solo.after(LONG)
    assert solo.raft.role == "follower"
    assert solo.sent(VoteRequest) == []
    solo.step(CAUGHT_UP)
    assert solo.sent(VoteRequest)
