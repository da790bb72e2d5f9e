"""RemoveRaftVoter: KafkaRaftClientReconfigTest, step by step."""

from collections.abc import Callable

import pytest

from kwire.codec.declaration import Request
from kwire.error_codes import ErrorCode
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.text.ids import ZERO_UUID
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    code,
    fetch_request,
    follower,
    leader,
    only,
    static_leader,
)
from tests.support.controller.raft.virtual_network import (
    voter_set,
)
from tests.support.controller.raft.voter_change_states import (
    adding,
    committed_by_2,
    not_committed,
    removing,
    updating,
)
from tests.support.controller.raft.voter_requests import remove_request

State = Callable[[], SingleReplica]
NONE = ErrorCode.NONE
TIMED_OUT = ErrorCode.REQUEST_TIMED_OUT
ELSEWHERE = ErrorCode.NOT_LEADER_OR_FOLLOWER
INVALID = ErrorCode.INVALID_REQUEST
UNSUPPORTED = ErrorCode.UNSUPPORTED_VERSION
NOT_FOUND = ErrorCode.VOTER_NOT_FOUND
CLUSTER = ErrorCode.INCONSISTENT_CLUSTER_ID


def lonely() -> SingleReplica:
    solo = leader(voters=voter_set(1))
    return solo


def no_directory_to_remove() -> RemoveRaftVoterRequest:
    request = remove_request(3)
    request.voter_directory_id = ZERO_UUID
    return request


REFUSALS: list[tuple[str, State, Request, int]] = [
    ("another cluster", leader, remove_request(3, cluster_id="another"), CLUSTER),
    ("not the leader", follower, remove_request(3), ELSEWHERE),
    ("no directory", leader, no_directory_to_remove(), INVALID),
    ("pending remove", removing, remove_request(2), TIMED_OUT),
    ("pending add", adding, remove_request(2), TIMED_OUT),
    ("nothing committed", not_committed, remove_request(3), TIMED_OUT),
    ("kraft.version 0", static_leader, remove_request(3), UNSUPPORTED),
    ("voters uncommitted", updating, remove_request(3), TIMED_OUT),
    ("no such id", leader, remove_request(7), NOT_FOUND),
    ("no such directory", leader, remove_request(3, disk=1), NOT_FOUND),
    ("the last voter", lonely, remove_request(1), NOT_FOUND),
]


@pytest.mark.parametrize(
    ("state", "request_", "error"),
    [row[1:] for row in REFUSALS],
    ids=[row[0] for row in REFUSALS],
)
def test_which_removals_are_refused_at_once(state: State, request_: Request, error: int) -> None:
    solo = state()
    end = solo.raft.end_offset
    (response,) = solo.ask(request_)
    assert code(response) == error
    assert solo.raft.end_offset == end, "nothing was written"


def test_a_voter_is_removed() -> None:
    solo = removing()
    assert solo.raft.voters == voter_set(1, 2)
    assert solo.replies(solo.last_token) == []
    token = solo.last_token
    committed_by_2(solo)
    assert only(solo.replies(token), RemoveRaftVoterResponse).error_code == NONE
    assert solo.raft.role == "leader"


def test_a_leader_removes_itself_and_resigns_when_the_others_agree() -> None:
    solo = leader()
    assert solo.ask(remove_request(1)) == []
    token = solo.last_token
    assert not solo.raft.is_voter
    committed_by_2(solo)
    assert solo.raft.role == "leader", "it does not count itself, so one of two is no majority"
    solo.ask(fetch_request(3, 5, solo.raft.end_offset, 5, max_wait_ms=0))
    assert only(solo.replies(token), RemoveRaftVoterResponse).error_code == NONE
    assert solo.raft.role == "resigned"
    told = {send.destination.id for send, _ in solo.sent(EndQuorumEpochRequest)}
    assert told == {2, 3}


def test_a_removed_leader_is_an_observer_afterwards() -> None:
    solo = leader()
    solo.ask(remove_request(1))
    for id in (2, 3):
        solo.ask(fetch_request(id, 5, solo.raft.end_offset, 5, max_wait_ms=0))
    solo.after(60_000)
    solo.after(60_000)
    assert solo.raft.role == "unattached"
