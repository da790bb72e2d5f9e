"""Listeners that no node of Kafka's could load are in no record, and nobody is told of them."""

from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages import (
    a53_begin_quorum_epoch,
    a54_end_quorum_epoch,
    a80_add_raft_voter,
    a82_update_raft_voter,
)
from kwire.messages.a01_fetch import FetchRequest
from tests.support.controller.handlers.registrations import BAD_ADDRESSES
from tests.support.controller.raft.single_replica import (
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
