"""Which file answers which request, and takes which response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kwire.codec.declaration import Request, Response
from kwire.controller.raft.effects import Reply
from kwire.controller.raft.endpoints import Node
from kwire.controller.raft.events import RequestFailed, RequestReceived, ResponseReceived
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.rpc import (
    add_raft_voter,
    begin_quorum_epoch,
    describe_quorum,
    end_quorum_epoch,
    fetch,
    fetch_answer,
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

_Handle = Callable[[Replica, RequestReceived, Any, int], Response | None]
_Answered = Callable[[Replica, Node, Any, int], bool]

_HANDLERS: dict[type[Request], _Handle] = {
    FetchRequest: fetch.handle,
    VoteRequest: vote.handle,
    BeginQuorumEpochRequest: begin_quorum_epoch.handle,
    EndQuorumEpochRequest: end_quorum_epoch.handle,
    DescribeQuorumRequest: describe_quorum.handle,
    FetchSnapshotRequest: fetch_snapshot.handle,
    AddRaftVoterRequest: add_raft_voter.handle,
    RemoveRaftVoterRequest: remove_raft_voter.handle,
    UpdateRaftVoterRequest: update_raft_voter.handle,
}

_TAKERS: dict[type[Response], _Answered] = {
    FetchResponse: fetch_answer.answered,
    VoteResponse: vote.answered,
    BeginQuorumEpochResponse: begin_quorum_epoch.answered,
    EndQuorumEpochResponse: end_quorum_epoch.answered,
    FetchSnapshotResponse: fetch_snapshot.answered,
    ApiVersionsResponse: add_raft_voter.versions_answered,
    AddRaftVoterResponse: add_raft_voter.answered,
    RemoveRaftVoterResponse: remove_raft_voter.answered,
    UpdateRaftVoterResponse: update_raft_voter.answered,
}

API_KEYS = frozenset(key for request in _HANDLERS if (key := request.key) is not None)
"""The APIs whose requests a replica answers."""


def answer(replica: Replica, received: RequestReceived, now: int) -> None:
    """Reply, now or later. InvalidValue for a request that is not one of API_KEYS."""
    handle = _HANDLERS.get(type(received.request))
    if handle is None:
        raise InvalidValue(f"{type(received.request).__name__} is no request between replicas")
    response = handle(replica, received, received.request, now)
    if response is not None:
        replica.emit(Reply(token=received.token, response=response))


def take_response(replica: Replica, received: ResponseReceived, now: int) -> None:
    """Act on a response, unless nobody waits for it any more."""
    node = replica.connections.source(received.correlation)
    take = _TAKERS.get(type(received.response))
    if node is None or take is None:
        return
    ok = take(replica, node, received.response, now)
    replica.connections.finished(received.correlation, now, ok=ok)


def take_failure(replica: Replica, failed: RequestFailed, now: int) -> None:
    """Have a pause before the next request; some failures also decide something."""
    node = replica.connections.source(failed.correlation)
    if node is None:
        return
    ok = vote.failed(replica, failed.error, now)
    add_raft_voter.versions_failed(replica, node, failed.error)
    replica.connections.finished(failed.correlation, now, ok=ok)
