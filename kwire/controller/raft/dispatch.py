"""The tables of the RPCs: the handler of each request and of each response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kwire.codec.declaration import Request, Response
from kwire.controller.raft.effects import Reply
from kwire.controller.raft.endpoints import PeerNode
from kwire.controller.raft.events import RequestFailed, RequestReceived, ResponseReceived
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.rpc import (
    add_raft_voter,
    begin_quorum_epoch,
    describe_quorum,
    end_quorum_epoch,
    fetch,
    fetch_snapshot,
    remove_raft_voter,
    update_raft_voter,
    vote,
)
from kwire.errors import InvalidValue
from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse

_RequestHandler = Callable[[Replica, RequestReceived, Any, int], Response | None]
_ResponseHandler = Callable[[Replica, PeerNode, Any, int], bool]

REQUEST_HANDLERS: dict[type[Request], _RequestHandler] = {
    FetchRequest: fetch.handle_request,
    VoteRequest: vote.handle_request,
    BeginQuorumEpochRequest: begin_quorum_epoch.handle_request,
    EndQuorumEpochRequest: end_quorum_epoch.handle_request,
    DescribeQuorumRequest: describe_quorum.handle_request,
    FetchSnapshotRequest: fetch_snapshot.handle_request,
    AddRaftVoterRequest: add_raft_voter.handle_request,
    RemoveRaftVoterRequest: remove_raft_voter.handle_request,
    UpdateRaftVoterRequest: update_raft_voter.handle_request,
}

_RESPONSE_HANDLERS: dict[type[Response], _ResponseHandler] = {
    FetchResponse: fetch.handle_response,
    VoteResponse: vote.handle_response,
    BeginQuorumEpochResponse: begin_quorum_epoch.handle_response,
    EndQuorumEpochResponse: end_quorum_epoch.handle_response,
    FetchSnapshotResponse: fetch_snapshot.handle_response,
    ApiVersionsResponse: add_raft_voter.handle_api_versions_response,
    AddRaftVoterResponse: add_raft_voter.handle_response,
    RemoveRaftVoterResponse: remove_raft_voter.handle_response,
    UpdateRaftVoterResponse: update_raft_voter.handle_response,
}

API_KEYS = frozenset(key for request in REQUEST_HANDLERS if (key := request.key) is not None)
"""The APIs whose requests a replica answers."""


def handle_request(replica: Replica, received: RequestReceived, now: int) -> None:
    """Reply, now or later. Raises InvalidValue if the request is not one of API_KEYS."""
    handle = REQUEST_HANDLERS.get(type(received.request))
    if handle is None:
        raise InvalidValue(f"{type(received.request).__name__} is no request between replicas")
    response = handle(replica, received, received.request, now)
    if response is not None:
        replica.emit(Reply(token=received.token, response=response))


def handle_response(replica: Replica, received: ResponseReceived, now: int) -> None:
    """Act on a response; ignore one that no request waits for any more."""
    node = replica.request_manager.node_of_request(received.correlation)
    handle = _RESPONSE_HANDLERS.get(type(received.response))
    if node is None or handle is None:
        return
    ok = handle(replica, node, received.response, now)
    replica.request_manager.on_response_result(received.correlation, now, ok=ok)


def handle_failure(replica: Replica, failed: RequestFailed, now: int) -> None:
    """Pause before the next request to the peer.

    A failed Vote may end the pre-votes, a failed ApiVersions ends an AddRaftVoter.
    """
    node = replica.request_manager.node_of_request(failed.correlation)
    if node is None:
        return
    ok = vote.handle_failure(replica, failed.error, now)
    add_raft_voter.handle_api_versions_failure(replica, node, failed.error)
    replica.request_manager.on_response_result(failed.correlation, now, ok=ok)
