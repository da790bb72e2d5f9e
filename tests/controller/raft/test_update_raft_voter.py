"""UpdateRaftVoter: KafkaRaftClientReconfigTest, step by step."""

from collections.abc import Callable

import pytest

from kwire.codec.declaration import Request
from kwire.controller.raft import BOOTSTRAP_SNAPSHOT
from kwire.error_codes import ErrorCode
from kwire.messages.a82_update_raft_voter import CurrentLeader, UpdateRaftVoterResponse
from memory_log import MemoryLog
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    code,
    follower,
    leader,
    only,
    static_leader,
)
from tests.support.controller.raft.virtual_network import (
    endpoints,
    snapshot,
    voter_set,
)
from tests.support.controller.raft.voter_change_states import (
    adding,
    not_committed,
    updating,
)
from tests.support.controller.raft.voter_requests import update_request

State = Callable[[], SingleReplica]
NONE = ErrorCode.NONE
TIMED_OUT = ErrorCode.REQUEST_TIMED_OUT
ELSEWHERE = ErrorCode.NOT_LEADER_OR_FOLLOWER
INVALID = ErrorCode.INVALID_REQUEST
NOT_FOUND = ErrorCode.VOTER_NOT_FOUND
CLUSTER = ErrorCode.INCONSISTENT_CLUSTER_ID
FENCED = ErrorCode.FENCED_LEADER_EPOCH
UNKNOWN = ErrorCode.UNKNOWN_LEADER_EPOCH


REFUSALS: list[tuple[str, State, Request, int]] = [
    ("another cluster", leader, update_request(cluster_id="another"), CLUSTER),
    ("old epoch", leader, update_request(epoch=4), FENCED),
    ("epoch to come", leader, update_request(epoch=6), UNKNOWN),
    ("not the leader", follower, update_request(3), ELSEWHERE),
    ("no default listener", leader, update_request(listener="OTHER"), INVALID),
    ("no range", leader, update_request(versions=(1, 0)), INVALID),
    ("negative range", leader, update_request(versions=(-1, 1)), INVALID),
    ("range without the level", leader, update_request(versions=(0, 0)), INVALID),
    ("nothing committed", not_committed, update_request(), TIMED_OUT),
    ("pending add", adding, update_request(), TIMED_OUT),
    ("voters uncommitted", updating, update_request(), TIMED_OUT),
    ("no such id", leader, update_request(7), NOT_FOUND),
    ("no such directory", leader, update_request(2, disk=1), NOT_FOUND),
    ("kraft.version 0", static_leader, update_request(), NONE),
]


@pytest.mark.parametrize(
    ("state", "request_", "error"),
    [row[1:] for row in REFUSALS],
    ids=[row[0] for row in REFUSALS],
)
def test_which_updates_are_refused_at_once(state: State, request_: Request, error: int) -> None:
    solo = state()
    end = solo.raft.end_offset
    (response,) = solo.ask(request_)
    assert code(response) == error
    assert solo.raft.end_offset == end, "nothing was written"


def test_an_update_is_appended_and_answered_with_the_leader() -> None:
    solo = leader()
    answer = only(solo.ask(update_request(port=7777)), UpdateRaftVoterResponse)
    expected = CurrentLeader(leader_id=1, leader_epoch=5, host="c1", port=9001)
    assert (answer.error_code, answer.current_leader) == (NONE, expected)
    assert solo.raft.voters.endpoints(2).entries[0].port == 7777


def test_a_leader_writes_its_own_news_with_its_first_record() -> None:
    log = MemoryLog()
    log.store_snapshot(BOOTSTRAP_SNAPSHOT, snapshot(voter_set(1, 2, 3)))
    solo = leader(log=log, endpoints=endpoints(1, 5555))
    assert solo.raft.voters.endpoints(1).entries[0].port == 5555
