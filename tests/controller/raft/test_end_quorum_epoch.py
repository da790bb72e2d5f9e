"""EndQuorumEpoch and resignation."""

from collections.abc import Callable

import pytest

from kwire.controller.raft import ElectionState, ReplicaKey, Resign, ResignLeader
from kwire.error_codes import ErrorCode
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    candidate,
    end_request,
    fetch_request,
    follower,
    leader,
    only,
    resigned,
    unattached,
)
from tests.support.controller.raft.virtual_network import key

State = Callable[[], SingleReplica]


NONE, FENCED, INVALID = (
    ErrorCode.NONE,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.INVALID_REQUEST,
)


END: list[tuple[str, State, EndQuorumEpochRequest, int, tuple[str, int]]] = [
    ("follower", follower, end_request(5, [key(3), key(1)]), NONE, ("follower", 5)),
    ("first successor", follower, end_request(5, [key(1), key(3)]), NONE, ("prospective", 5)),
    ("no successors", follower, end_request(5), NONE, ("prospective", 5)),
    ("unattached", unattached, end_request(5, [key(1)]), NONE, ("prospective", 5)),
    ("old epoch", follower, end_request(4, [key(1)]), FENCED, ("follower", 5)),
    ("candidate, old epoch", candidate, end_request(4, [key(1)]), FENCED, ("candidate", 5)),
    ("leader, old epoch", leader, end_request(4, [key(1)]), FENCED, ("leader", 5)),
    ("next epoch", follower, end_request(6, [key(3), key(1)], 3), NONE, ("follower", 6)),
    ("not its leader", follower, end_request(5, [key(1)], 3), INVALID, ("follower", 5)),
]


@pytest.mark.parametrize(
    ("state", "request_", "error", "after"),
    [row[1:] for row in END],
    ids=[row[0] for row in END],
)
def test_who_acts_on_a_resignation(
    state: State, request_: EndQuorumEpochRequest, error: int, after: tuple[str, int]
) -> None:
    solo = state()
    answer = only(solo.ask(request_), EndQuorumEpochResponse).topics[0].partitions[0]
    assert answer.error_code == error
    assert (solo.raft.role, solo.raft.epoch) == after


@pytest.mark.parametrize(
    ("successors", "backoff"),
    [
        ([key(1), key(3)], 0),
        ([key(3), key(1)], 500),
        ([key(3), key(4), key(1)], 500),
        ([key(3), key(1), key(4)], 250),
        ([key(3)], 1000),
        ([key(3), key(1, disk=1)], 1000),
        ([key(3), ReplicaKey(id=1)], 500),
    ],
)
def test_successors_stand_one_after_the_other(successors: list[ReplicaKey], backoff: int) -> None:
    solo = follower()
    solo.ask(end_request(5, successors))
    if backoff:
        assert solo.raft.role == "follower"
        solo.after(backoff - 1)
        assert solo.raft.role == "follower"
        solo.after(1)
    assert solo.raft.role == "prospective"


def test_a_leader_that_resigns_proposes_the_best_log_first() -> None:
    solo = leader()
    solo.ask(fetch_request(3, 5, 1, 5, max_wait_ms=0))
    solo.step(Resign(epoch=5))
    assert ResignLeader(epoch=5) in solo.effects
    requests = [request for _, request in solo.sent(EndQuorumEpochRequest)]
    told = requests[0].topics[0].partitions[0]
    assert [info.candidate_id for info in told.preferred_candidates] == [2, 3]
    assert told.preferred_successors == (2, 3)
    assert (solo.raft.role, solo.raft.leader_id, len(requests)) == ("resigned", 1, 2)


def test_only_the_leader_of_that_epoch_resigns() -> None:
    solo = leader()
    solo.step(Resign(epoch=4))
    assert solo.raft.role == "leader"


def test_a_resigned_leader_repeats_itself_and_then_gives_the_epoch_up() -> None:
    solo = resigned()
    assert len(solo.sent(EndQuorumEpochRequest)) == 2
    assert solo.election == ElectionState(epoch=5, leader_id=1)
    solo.after(solo.config.election_timeout_ms)
    assert (solo.raft.role, solo.raft.epoch) == ("prospective", 6), "it has waited long enough"


def test_a_leader_that_no_majority_fetches_from_resigns() -> None:
    solo = leader()
    timeout = solo.config.check_quorum_timeout_ms
    solo.after(timeout - 1)
    assert solo.raft.role == "leader"
    solo.ask(fetch_request(3, 5, 0, 0, max_wait_ms=0))
    solo.after(timeout - 1)
    assert solo.raft.role == "leader"
    solo.after(1)
    assert solo.raft.role == "resigned"
