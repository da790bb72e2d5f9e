"""Epochs after which no leader could be elected are not taken over, whoever names them."""

from collections.abc import Callable
from typing import Any

import pytest

from kwire.codec.declaration import Request, Response
from kwire.controller.raft import ElectionState
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest, SnapshotId
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    begin_request,
    candidate,
    end_request,
    fetch_response,
    follower,
    vote_request,
    vote_response,
)

LAST = (1 << 31) - 1
ASKED = 1 << 30

ASKING: list[Callable[[int], Request]] = [
    vote_request,
    lambda epoch: vote_request(epoch, pre_vote=True),
    begin_request,
    end_request,
]


def at(epoch: int) -> SingleReplica:
    return SingleReplica(election=ElectionState(epoch=epoch))


@pytest.mark.parametrize("asking", ASKING, ids=["Vote", "PreVote", "BeginQuorum", "EndQuorum"])
@pytest.mark.parametrize(
    ("own", "epoch", "error"),
    [
        (5, ASKED, ErrorCode.NONE),
        (5, ASKED + 1, ErrorCode.INVALID_REQUEST),
        (5, LAST - 1, ErrorCode.INVALID_REQUEST),
        (5, LAST, ErrorCode.INVALID_REQUEST),
        # A quorum that somebody led there goes on.
        (ASKED, ASKED + 1, ErrorCode.NONE),
        (ASKED, ASKED + 1024, ErrorCode.NONE),
        (ASKED, ASKED + 1025, ErrorCode.INVALID_REQUEST),
        (LAST - 9, LAST, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_request_of_an_epoch_that_leaves_no_room_is_refused(
    asking: Callable[[int], Request], own: int, epoch: int, error: ErrorCode
) -> None:
    solo = at(own)
    (response,) = solo.ask(asking(epoch))
    answer: Any = response
    assert answer.topics[0].partitions[0].error_code == error
    assert solo.raft.epoch == (own if error else epoch)


def fenced(epoch: int) -> Response:
    return fetch_response(epoch, -1, error=ErrorCode.FENCED_LEADER_EPOCH)


@pytest.mark.parametrize(
    ("state", "request_type", "response"),
    [
        (candidate, VoteRequest, lambda epoch: vote_response(epoch, granted=False)),
        (follower, FetchRequest, fenced),
        (follower, FetchRequest, lambda epoch: fetch_response(epoch, 3)),
    ],
)
def test_an_answer_of_an_epoch_that_leaves_no_room_is_not_taken_over(
    state: Callable[[], SingleReplica],
    request_type: type[Request],
    response: Callable[[int], Response],
) -> None:
    for epoch, taken in ((LAST, 5), (LAST - (1 << 19), 5), (ASKED + 9, ASKED + 9)):
        solo = state()
        send, _ = solo.sent(request_type)[-1]
        solo.respond(send, response(epoch))
        assert solo.raft.epoch == taken


def test_a_snapshot_of_a_later_epoch_than_the_leader_s_is_not_fetched() -> None:
    """The log would have a later epoch than quorum-state."""
    for epoch, fetched in ((6, False), (LAST, False), (5, True)):
        solo = follower()
        send, _ = solo.sent(FetchRequest)[-1]
        solo.respond(send, fetch_response(5, snapshot_id=SnapshotId(end_offset=9, epoch=epoch)))
        assert bool(solo.sent(FetchSnapshotRequest)) == fetched


def test_one_vote_does_not_end_a_quorum() -> None:
    solo = follower()
    solo.ask(vote_request(LAST))
    solo.after(60_000)
    assert solo.sent(VoteRequest)[-1][1].topics[0].partitions[0].replica_epoch == 5
