"""AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter: KafkaRaftClientReconfigTest as tables."""

from collections.abc import Callable

import pytest

from kwire.codec.declaration import Request
from kwire.controller.raft import BOOTSTRAP_SNAPSHOT, MemoryLog, RequestFailed
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import EpochEndOffset, FetchRequest
from kwire.messages.a18_api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    SupportedFeatureKey,
)
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.messages.a82_update_raft_voter import CurrentLeader, UpdateRaftVoterResponse
from kwire.text.ids import ZERO_UUID
from tests.support.controller.raft.single_replica import (
    Solo,
    begin_request,
    code,
    fetch_request,
    fetch_response,
    follower,
    leader,
    only,
    static_leader,
)
from tests.support.controller.raft.virtual_network import (
    directory,
    endpoints,
    snapshot,
    voter_set,
)
from tests.support.controller.raft.voter_requests import add_request, remove_request, update_request

State = Callable[[], Solo]
NONE = ErrorCode.NONE
TIMED_OUT = ErrorCode.REQUEST_TIMED_OUT
ELSEWHERE = ErrorCode.NOT_LEADER_OR_FOLLOWER
INVALID = ErrorCode.INVALID_REQUEST
UNSUPPORTED = ErrorCode.UNSUPPORTED_VERSION
DUPLICATE = ErrorCode.DUPLICATE_VOTER
NOT_FOUND = ErrorCode.VOTER_NOT_FOUND
CLUSTER = ErrorCode.INCONSISTENT_CLUSTER_ID
FENCED = ErrorCode.FENCED_LEADER_EPOCH
UNKNOWN = ErrorCode.UNKNOWN_LEADER_EPOCH


def not_committed() -> Solo:
    return leader(committed=False)


def observed(by: int = 4) -> Solo:
    """A leader that an observer has caught up with."""
    solo = leader()
    solo.ask(fetch_request(by, 5, solo.raft.end_offset, 5, max_wait_ms=0))
    return solo


def adding() -> Solo:
    solo = observed()
    assert solo.ask(add_request()) == []
    return solo


def appended() -> Solo:
    """The VotersRecord with voter 4 is in the log, and not committed."""
    solo = adding()
    versions_answer(solo)
    return solo


def removing() -> Solo:
    solo = leader()
    assert solo.ask(remove_request(3)) == []
    return solo


def updating() -> Solo:
    """An UpdateRaftVoter was appended, and is not committed."""
    solo = leader()
    solo.ask(update_request(port=1))
    return solo


def lonely() -> Solo:
    solo = leader(voters=voter_set(1))
    return solo


def versions_answer(solo: Solo, low: int = 0, high: int = 1, *, error: int = 0) -> None:
    send, _ = solo.sent(ApiVersionsRequest)[-1]
    feature = SupportedFeatureKey(name="kraft.version", min_version=low, max_version=high)
    solo.respond(send, ApiVersionsResponse(error_code=error, supported_features=[feature]))


def committed_by_2(solo: Solo) -> None:
    """Voter 2 fetches everything."""
    solo.ask(fetch_request(2, 5, solo.raft.end_offset, 5, max_wait_ms=0))


def no_directory() -> AddRaftVoterRequest:
    return add_request(voter_directory_id=ZERO_UUID)


def no_directory_to_remove() -> RemoveRaftVoterRequest:
    request = remove_request(3)
    request.voter_directory_id = ZERO_UUID
    return request


REFUSALS: list[tuple[str, State, Request, int]] = [
    ("add: another cluster", leader, add_request(cluster_id="another"), CLUSTER),
    ("add: not the leader", follower, add_request(), ELSEWHERE),
    ("add: no id", leader, add_request(voter_id=-1), INVALID),
    ("add: no directory", leader, no_directory(), INVALID),
    ("add: no default listener", leader, add_request(listener="OTHER"), INVALID),
    ("add: pending add", adding, add_request(5), TIMED_OUT),
    ("add: pending remove", removing, add_request(), TIMED_OUT),
    ("add: nothing committed", not_committed, add_request(), TIMED_OUT),
    ("add: kraft.version 0", static_leader, add_request(), UNSUPPORTED),
    ("add: voters uncommitted", updating, add_request(), TIMED_OUT),
    ("add: existing voter", leader, add_request(3), DUPLICATE),
    ("add: existing id", leader, add_request(3, voter_directory_id=directory(3, 1)), DUPLICATE),
    ("remove: another cluster", leader, remove_request(3, cluster_id="another"), CLUSTER),
    ("remove: not the leader", follower, remove_request(3), ELSEWHERE),
    ("remove: no directory", leader, no_directory_to_remove(), INVALID),
    ("remove: pending remove", removing, remove_request(2), TIMED_OUT),
    ("remove: pending add", adding, remove_request(2), TIMED_OUT),
    ("remove: nothing committed", not_committed, remove_request(3), TIMED_OUT),
    ("remove: kraft.version 0", static_leader, remove_request(3), UNSUPPORTED),
    ("remove: voters uncommitted", updating, remove_request(3), TIMED_OUT),
    ("remove: no such id", leader, remove_request(7), NOT_FOUND),
    ("remove: no such directory", leader, remove_request(3, disk=1), NOT_FOUND),
    ("remove: the last voter", lonely, remove_request(1), NOT_FOUND),
    ("update: another cluster", leader, update_request(cluster_id="another"), CLUSTER),
    ("update: old epoch", leader, update_request(epoch=4), FENCED),
    ("update: epoch to come", leader, update_request(epoch=6), UNKNOWN),
    ("update: not the leader", follower, update_request(3), ELSEWHERE),
    ("update: no default listener", leader, update_request(listener="OTHER"), INVALID),
    ("update: no range", leader, update_request(versions=(1, 0)), INVALID),
    ("update: negative range", leader, update_request(versions=(-1, 1)), INVALID),
    ("update: range without the level", leader, update_request(versions=(0, 0)), INVALID),
    ("update: nothing committed", not_committed, update_request(), TIMED_OUT),
    ("update: pending add", adding, update_request(), TIMED_OUT),
    ("update: voters uncommitted", updating, update_request(), TIMED_OUT),
    ("update: no such id", leader, update_request(7), NOT_FOUND),
    ("update: no such directory", leader, update_request(2, disk=1), NOT_FOUND),
    ("update: kraft.version 0", static_leader, update_request(), NONE),
]


@pytest.mark.parametrize(
    ("state", "request_", "error"),
    [row[1:] for row in REFUSALS],
    ids=[row[0] for row in REFUSALS],
)
def test_which_changes_are_refused_at_once(state: State, request_: Request, error: int) -> None:
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
    ("low", "high", "error"), [(0, 0, INVALID), (2, 3, INVALID), (1, 1, None), (0, 2, None)]
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


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (adding, "nothing was appended, and the voters are as before"),
        (appended, "in the log at offset {}, but were not committed in time"),
        (removing, "in the log at offset {}, but were not committed in time"),
    ],
    ids=["adding", "appended", "removing"],
)
def test_a_change_that_takes_too_long_times_out_and_says_what_is_appended(
    state: State, said: str
) -> None:
    solo = state()
    last = solo.raft.end_offset - 1
    token = solo.last_token
    solo.after(solo.config.request_timeout_ms - 1)
    assert solo.replies(token) == []
    solo.after(1)
    (answer,) = solo.replies(token)
    assert code(answer) == TIMED_OUT
    assert isinstance(answer, AddRaftVoterResponse | RemoveRaftVoterResponse)
    assert said.format(last) in (answer.error_message or "")


@pytest.mark.parametrize("state", [adding, appended, removing])
def test_a_change_fails_when_the_leader_goes(state: State) -> None:
    solo = state()
    token = solo.last_token
    solo.ask(begin_request(6))
    (answer,) = solo.replies(token)
    assert code(answer) == ELSEWHERE


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


def test_a_follower_acts_on_voters_before_they_are_committed_and_takes_them_back() -> None:
    source = leader()
    solo = follower(epoch=5, voters=voter_set(1, 2))
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(5, records=source.log.read(0, 1 << 20)))
    assert solo.raft.voters == voter_set(1, 2, 3)
    send, _ = solo.sent(FetchRequest)[-1]
    diverging = EpochEndOffset(epoch=0, end_offset=0)
    solo.respond(send, fetch_response(5, diverging_epoch=diverging))
    assert solo.raft.voters == voter_set(1, 2)
