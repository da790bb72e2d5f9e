"""AddRaftVoter: KafkaRaftClientReconfigTest, step by step."""

from collections.abc import Callable

import pytest

from kwire.codec.declaration import Request
from kwire.controller.raft import RequestFailed
from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterResponse
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
    directory,
    voter_set,
)
from tests.support.controller.raft.voter_change_states import (
    adding,
    committed_by_2,
    not_committed,
    observed,
    removing,
    updating,
    versions_answer,
)
from tests.support.controller.raft.voter_requests import add_request, remove_request

State = Callable[[], SingleReplica]
NONE = ErrorCode.NONE
TIMED_OUT = ErrorCode.REQUEST_TIMED_OUT
ELSEWHERE = ErrorCode.NOT_LEADER_OR_FOLLOWER
INVALID = ErrorCode.INVALID_REQUEST
UNSUPPORTED = ErrorCode.UNSUPPORTED_VERSION
DUPLICATE = ErrorCode.DUPLICATE_VOTER
CLUSTER = ErrorCode.INCONSISTENT_CLUSTER_ID


def no_directory() -> AddRaftVoterRequest:
    return add_request(voter_directory_id=ZERO_UUID)


REFUSALS: list[tuple[str, State, Request, int]] = [
    ("another cluster", leader, add_request(cluster_id="another"), CLUSTER),
    ("not the leader", follower, add_request(), ELSEWHERE),
    ("no id", leader, add_request(voter_id=-1), INVALID),
    ("no directory", leader, no_directory(), INVALID),
    ("no default listener", leader, add_request(listener="OTHER"), INVALID),
    ("pending add", adding, add_request(5), TIMED_OUT),
    ("pending remove", removing, add_request(), TIMED_OUT),
    ("nothing committed", not_committed, add_request(), TIMED_OUT),
    ("kraft.version 0", static_leader, add_request(), UNSUPPORTED),
    ("voters uncommitted", updating, add_request(), TIMED_OUT),
    ("existing voter", leader, add_request(3), DUPLICATE),
    ("existing id", leader, add_request(3, voter_directory_id=directory(3, 1)), DUPLICATE),
]


@pytest.mark.parametrize(
    ("state", "request_", "error"),
    [row[1:] for row in REFUSALS],
    ids=[row[0] for row in REFUSALS],
)
def test_which_additions_are_refused_at_once(state: State, request_: Request, error: int) -> None:
    solo = state()
    end = solo.raft.end_offset
    (response,) = solo.ask(request_)
    assert code(response) == error
    assert solo.raft.end_offset == end, "nothing was written"


def test_a_voter_is_added_step_by_step() -> None:
    solo = adding()
    send, _ = solo.sent(ApiVersionsRequest)[-1]
    assert (send.destination.id, send.destination.host) == (4, "c4")
    assert solo.raft.voters == voter_set(1, 2, 3)
    token = solo.last_token
    versions_answer(solo)
    assert solo.raft.voters == voter_set(1, 2, 3, 4), "in force at once"
    assert solo.replies(token) == []
    committed_by_2(solo)
    assert solo.replies(token) == [], "two of four are no majority"
    solo.ask(fetch_request(4, 5, solo.raft.end_offset, 5, max_wait_ms=0))
    assert only(solo.replies(token), AddRaftVoterResponse).error_code == NONE


def test_an_addition_may_be_answered_before_it_is_committed() -> None:
    solo = observed()
    assert solo.ask(add_request(ack_when_committed=False)) == []
    token = solo.last_token
    versions_answer(solo)
    assert only(solo.replies(token), AddRaftVoterResponse).error_code == NONE
    assert only(solo.ask(remove_request(3)), RemoveRaftVoterResponse).error_code == TIMED_OUT


@pytest.mark.parametrize(
    ("low", "high", "error"),
    [(0, 0, INVALID), (2, 3, INVALID), (-1, 1, INVALID), (1, 1, None), (0, 2, None)],
)
def test_a_new_voter_must_know_the_finalised_kraft_version(
    low: int, high: int, error: int | None
) -> None:
    solo = adding()
    token = solo.last_token
    versions_answer(solo, low, high)
    answers = [code(answer) for answer in solo.replies(token)]
    assert answers == ([] if error is None else [error])


def test_a_new_voter_whose_versions_cannot_be_had_is_not_added() -> None:
    solo = adding()
    token = solo.last_token
    versions_answer(solo, error=ErrorCode.UNSUPPORTED_VERSION)
    assert only(solo.replies(token), AddRaftVoterResponse).error_code == TIMED_OUT
    unreachable = adding()
    send, _ = unreachable.sent(ApiVersionsRequest)[-1]
    unreachable.step(
        RequestFailed(correlation=send.correlation, error=ErrorCode.BROKER_NOT_AVAILABLE)
    )
    answer = only(unreachable.replies(unreachable.last_token), AddRaftVoterResponse)
    assert answer.error_code == TIMED_OUT


def test_a_new_voter_that_lags_is_not_added() -> None:
    solo = leader()
    solo.ask(fetch_request(4, 5, 0, 0, max_wait_ms=0))
    assert solo.ask(add_request()) == []
    versions_answer(solo)
    answer = only(solo.replies(solo.last_token), AddRaftVoterResponse)
    assert answer.error_code == TIMED_OUT
    assert answer.error_message is not None
    assert answer.error_message.endswith("lags behind. Nothing was appended.")


def test_the_versions_of_another_node_do_not_count() -> None:
    solo = adding()
    fetch = solo.sent(ApiVersionsRequest)[-1][0]
    assert fetch.destination.id == 4
    solo.respond(fetch, ApiVersionsResponse())
    assert only(solo.replies(solo.last_token), AddRaftVoterResponse).error_code == INVALID
