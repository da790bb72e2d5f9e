"""Listeners that no node of Kafka's could load are in no record, and nobody is told of them."""

from typing import Any

import pytest

from kwire.controller.raft import Send
from kwire.error_codes import ErrorCode
from kwire.messages import (
    a53_begin_quorum_epoch,
    a54_end_quorum_epoch,
    a80_add_raft_voter,
    a82_update_raft_voter,
)
from kwire.messages.a01_fetch import FetchRequest, FetchResponse, NodeEndpoint, SnapshotId
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest
from tests.support.controller.handlers.registrations import BAD_ADDRESSES
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    begin_request,
    code,
    end_request,
    fetch_response,
    follower,
    leader,
)
from tests.support.controller.raft.voter_requests import add_request, update_request

REQUESTS: list[Any] = [
    (leader, add_request(), "listeners", a80_add_raft_voter.Listener),
    (leader, update_request(), "listeners", a82_update_raft_voter.Listener),
    (follower, begin_request(6), "leader_endpoints", a53_begin_quorum_epoch.LeaderEndpoint),
    (follower, end_request(6), "leader_endpoints", a54_end_quorum_epoch.LeaderEndpoint),
]


@pytest.mark.parametrize("changes", BAD_ADDRESSES)
@pytest.mark.parametrize(
    ("state", "request_", "field", "kind"), REQUESTS, ids=lambda value: type(value).__name__
)
def test_listeners_that_cannot_be_loaded_are_refused(
    state: Any, request_: Any, field: str, kind: Any, changes: list[dict[str, Any]]
) -> None:
    solo, good = state(), kind(name="CONTROLLER", host="c4", port=9004)
    before = solo.raft.end_offset, solo.raft.epoch
    bad = [good.replace(**change) for change in changes]
    # With an address for the default listener: for want of that it would be refused, too.
    named = bad if any(item.name == good.name for item in bad) else [good, *bad]

    (answer,) = solo.ask(request_.replace(**{field: named}))

    assert code(answer) == ErrorCode.INVALID_REQUEST
    assert (solo.raft.end_offset, solo.raft.epoch) == before


@pytest.mark.parametrize(("host", "port"), [("", 9003), (" ", 9003), ("c3", 0), ("other", 1)])
def test_a_leader_is_looked_for_at_the_voters_address_if_its_own_is_none(
    host: str, port: int
) -> None:
    """As in Vote, Fetch and the other responses that name one."""
    solo = follower()
    send, _ = solo.sent(FetchRequest)[-1]
    response = fetch_response(7, 3, error=ErrorCode.FENCED_LEADER_EPOCH, names_endpoint=True)
    node = response.node_endpoints[0].replace(host=host, port=port)
    solo.respond(send, response.replace(node_endpoints=[node]))
    expected = host if host == "other" else "c3"
    assert [address.host for address in solo.raft.leader_endpoints] == [expected]


OTHER_FOLLOWER = int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
ELSEWHERE = {"node_endpoints": [NodeEndpoint(node_id=2, host="moved", port=9002)]}


def asks_a_bootstrap_server(*earlier: FetchResponse) -> tuple[SingleReplica, Send]:
    """Return a follower whose leader, replica 2, answers no more, and its latest request."""
    solo = follower(bootstrap_servers=(("there", 9090),), fetch_timeout_ms=60_000)
    for response in earlier:
        solo.respond(solo.sent(FetchRequest)[-1][0], response)
    solo.after(solo.config.request_timeout_ms)
    send, _ = solo.sent(FetchRequest)[-1]
    assert send.destination.host == "there"
    return solo, send


def test_a_snapshot_is_fetched_from_the_address_that_the_leader_tells() -> None:
    """A replica that starts again knows the leader of its epoch at the old voter set's address."""
    solo, send = asks_a_bootstrap_server()
    snapshot_id = SnapshotId(end_offset=4, epoch=2)
    solo.respond(send, fetch_response(5, snapshot_id=snapshot_id).replace(**ELSEWHERE))
    send, _ = solo.sent(FetchSnapshotRequest)[-1]
    assert (send.destination.id, send.destination.host) == (2, "moved")


@pytest.mark.parametrize(
    ("earlier", "error", "believed"),
    [(0, 0, True), (1, 0, True), (0, OTHER_FOLLOWER, True), (1, OTHER_FOLLOWER, False)],
    ids=["the leader", "the leader again", "another follower", "not against the leader"],
)
def test_the_address_of_a_leader_that_has_answered_is_its_own_word(
    earlier: int, error: int, believed: bool
) -> None:
    solo, send = asks_a_bootstrap_server(*[fetch_response(5, names_endpoint=True)] * earlier)
    solo.respond(send, fetch_response(5, error=error).replace(**ELSEWHERE))
    assert [address.host for address in solo.raft.leader_endpoints] == [
        "moved" if believed else "c2"
    ]


def test_the_address_at_which_the_leader_answers_is_kept() -> None:
    """The one that it tells may be out of reach from here."""
    solo = follower()
    response: FetchResponse = fetch_response(5).replace(**ELSEWHERE)
    solo.respond(solo.sent(FetchRequest)[-1][0], response)
    assert [address.host for address in solo.raft.leader_endpoints] == ["c2"]


def test_an_old_epochs_word_on_the_address_of_its_leader_is_no_news() -> None:
    solo, send = asks_a_bootstrap_server()
    solo.respond(send, fetch_response(4).replace(**ELSEWHERE))
    assert [address.host for address in solo.raft.leader_endpoints] == ["c2"]
