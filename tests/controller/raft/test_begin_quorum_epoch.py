"""BeginQuorumEpoch: which replica follows the leader that it names."""

from collections.abc import Callable

import pytest

from kwire.controller.raft import ReplicaKey
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a52_vote import VoteResponse
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochResponse
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    begin_request,
    candidate,
    end_request,
    fetch_request,
    follower,
    leader,
    observer,
    only,
    prospective,
    resigned,
    unattached,
    vote_request,
)
from tests.support.controller.raft.virtual_network import key, static_voters

State = Callable[[], SingleReplica]


NONE, FENCED, INVALID = (
    ErrorCode.NONE,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.INVALID_REQUEST,
)


BEGIN: list[tuple[str, State, BeginQuorumEpochRequest, int, tuple[str, int, int | None]]] = [
    # state, request, error, role and epoch and leader afterwards
    ("unattached", unattached, begin_request(5), NONE, ("follower", 5, 2)),
    ("unattached, next epoch", unattached, begin_request(6), NONE, ("follower", 6, 2)),
    ("unattached, old epoch", unattached, begin_request(4), FENCED, ("unattached", 5, None)),
    ("candidate", candidate, begin_request(5, 3), NONE, ("follower", 5, 3)),
    ("prospective", prospective, begin_request(5, 3), NONE, ("follower", 5, 3)),
    ("follower, same leader", follower, begin_request(5), NONE, ("follower", 5, 2)),
    ("follower, two leaders", follower, begin_request(5, 3), INVALID, ("follower", 5, 2)),
    ("leader, two leaders", leader, begin_request(5, 3), INVALID, ("leader", 5, 1)),
    ("leader, next epoch", leader, begin_request(6, 3), NONE, ("follower", 6, 3)),
    ("resigned, next epoch", resigned, begin_request(6), NONE, ("follower", 6, 2)),
    ("observer", observer, begin_request(5), NONE, ("follower", 5, 2)),
    ("no leader id", unattached, begin_request(6, -1), INVALID, ("unattached", 5, None)),
    ("claims to be us", unattached, begin_request(5, 1), INVALID, ("unattached", 5, None)),
    ("claims we will be", unattached, begin_request(6, 1), INVALID, ("unattached", 5, None)),
]


@pytest.mark.parametrize(
    ("state", "request_", "error", "after"),
    [row[1:] for row in BEGIN],
    ids=[row[0] for row in BEGIN],
)
def test_who_believes_a_leader(
    state: State,
    request_: BeginQuorumEpochRequest,
    error: int,
    after: tuple[str, int, int | None],
) -> None:
    solo = state()
    answer = only(solo.ask(request_), BeginQuorumEpochResponse).topics[0].partitions[0]
    assert answer.error_code == error
    assert (solo.raft.role, solo.raft.epoch, solo.raft.leader_id) == after


@pytest.mark.parametrize(
    ("receiver", "error"),
    [
        (key(1), NONE),
        (ReplicaKey(id=1), NONE),
        (key(2), ErrorCode.INVALID_VOTER_KEY),
        (key(1, disk=1), ErrorCode.INVALID_VOTER_KEY),
    ],
)
def test_a_leader_is_believed_even_where_it_means_another_directory(
    receiver: ReplicaKey, error: int
) -> None:
    solo = unattached()
    answer = only(solo.ask(begin_request(6, receiver=receiver)), BeginQuorumEpochResponse)
    assert answer.topics[0].partitions[0].error_code == error
    assert (solo.raft.role, solo.raft.epoch) == ("follower", 6)


def test_version_0_leaves_the_endpoints_to_the_voter_set() -> None:
    solo = unattached(static_voters=static_voters(1, 2, 3))
    request = begin_request(6, with_endpoints=False, receiver=ReplicaKey(id=-1))
    only(solo.ask(request, version=0), BeginQuorumEpochResponse)
    send, _ = solo.sent(FetchRequest)[-1]
    assert (send.destination.id, send.destination.host) == (2, "c2")


def test_another_cluster_has_no_leader_here() -> None:
    solo = unattached()
    begin = only(solo.ask(begin_request(6, cluster_id="another")), BeginQuorumEpochResponse)
    end = only(solo.ask(end_request(6, cluster_id="another")), EndQuorumEpochResponse)
    assert begin.error_code == end.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
    assert solo.raft.epoch == 5


def test_a_leader_tells_voters_of_itself_until_they_fetch() -> None:
    solo = leader(committed=False)
    solo.forget()
    interval = solo.config.begin_quorum_epoch_interval_ms
    solo.ask(fetch_request(2, 5, 0, 0, max_wait_ms=0))
    solo.after(interval - 1)
    assert not solo.sent(BeginQuorumEpochRequest)
    solo.ask(fetch_request(2, 5, 0, 0, max_wait_ms=0))
    solo.after(solo.config.request_timeout_ms)
    told = [send.destination.id for send, _ in solo.sent(BeginQuorumEpochRequest)]
    assert told == [2, 3]


def test_a_leader_is_followed_at_more_endpoints_than_were_known() -> None:
    solo = unattached()
    solo.ask(begin_request(5))
    request = begin_request(5)
    second = request.leader_endpoints[0].replace(name="CONTROLLER_SSL", port=443)
    request.leader_endpoints.append(second)
    solo.ask(request)
    assert [entry.port for entry in solo.raft.leader_endpoints] == [9002, 443]
    solo.ask(begin_request(5))
    assert len(solo.raft.leader_endpoints) == 2, "fewer are no news"


def test_a_leader_that_cannot_be_reached_is_known_by_its_id_only() -> None:
    solo = unattached()
    request = begin_request(6, 9)
    request.leader_endpoints[0].name = "OTHER"
    solo.ask(request)
    assert (solo.raft.role, solo.raft.epoch, solo.raft.leader_id) == ("unattached", 6, 9)
    answer = only(solo.ask(vote_request(6)), VoteResponse).topics[0].partitions[0]
    assert not answer.vote_granted, "the epoch has had its leader"
