"""The requests of one operation to one node, and its answers: on a connection that is open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from kwire.admin import registry
from kwire.admin.cluster_description import require_metadata
from kwire.admin.operation import OperationCall, RequestPart
from kwire.admin.operation_run import OperationRun
from kwire.admin.registry import Reach
from kwire.codec.declaration import Request
from kwire.errors import AnswerLost, BrokerError, UnsupportedVersion, WireError
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.endpoint_type import EndpointType
from kwire.net.connection import Connection

K = TypeVar("K")
A = TypeVar("A")
R = TypeVar("R")

SERVER_SHARE = 0.9
"""Of the client's time for a request: the time that the node is told to try."""

_LONGEST_MS = 2**31 - 1
"""TimeoutMs of a request is an int32."""


_ASKS_RAFT = (registry.DESCRIBE_METADATA_QUORUM,)
"""Answered from what the leader knows of the quorum, before it has read any metadata."""


async def exchange(
    run: OperationRun[K, A, R],
    keys: Sequence[K],
    connection: Connection,
    timeout: float,
    endpoint_type: EndpointType,
) -> None:
    """Send the requests for those of these keys that are pending; note what the node answers.

    endpoint_type: the kind of the bootstrap, for the advice where a node is too old.

    Raises ConnectionFailed and AnswerLost, after noting the keys of a change as unknown;
    MetadataNotRead, before anything is sent, of a controller that would answer as if the cluster
    had nothing in it.
    """
    if endpoint_type is EndpointType.CONTROLLER and run.operation.row not in _ASKS_RAFT:
        await require_metadata(connection, timeout)
    # Some may be settled by now: by a node that was asked beside this one, or on an older
    # connection to this one, which was closed in the meantime.
    call = OperationCall(
        keys=tuple(key for key in keys if key in run.pending_set),
        arguments=run.arguments,
        peer=connection.peer,
        node=connection.node,
        timeout_ms=min(max(1, int(timeout * 1000 * SERVER_SHARE)), _LONGEST_MS),
    )
    if not call.keys:
        return
    try:
        parts = run.operation.parts(call)
        for request in {type(request) for _, request in parts}:
            run.operation.version_for(request, connection.node, connection.peer)
    except UnsupportedVersion as error:
        advice = _advice(run, connection, endpoint_type)
        run.fail(call.keys, UnsupportedVersion(f"{error}{advice}"))
        return
    results = await asyncio.gather(
        *(_exchange_part(run, connection, call, part, timeout) for part in parts),
        return_exceptions=True,
    )
    for result in results:
        if isinstance(result, BaseException):
            raise result


async def _exchange_part(
    run: OperationRun[K, A, R],
    connection: Connection,
    call: OperationCall[K, A],
    part: RequestPart[K],
    timeout: float,
) -> None:
    keys, request = part
    part_call = replace(call, keys=keys)
    # An earlier node's error says nothing about a key that this one leaves out.
    run.forget(keys)
    next_request: Request | None = request
    while next_request is not None:
        try:
            version = run.operation.version_for(type(next_request), call.node, call.peer)
            # A node that always has another page must not outlast the operation.
            if run.deadline.is_over and next_request is not request:
                name = run.operation.row.api
                raise AnswerLost(f"{connection.peer} did not end its answer to {name} in time")
            share = min(timeout, run.deadline.remaining)
            response = await connection.send(next_request, version, share)
            run.take_answer(response, part_call)
        except AnswerLost as error:
            run.answer_lost(keys, error)
            raise
        except BrokerError as error:
            for key in keys:
                run.take(key, error)
            return
        except UnsupportedVersion as error:
            run.fail(keys, error)
            return
        except WireError as error:
            run.unreadable(keys, error)
            return
        follow = run.operation.follow
        next_request = follow(response, part_call) if follow else None
    run.check_complete(keys, connection)


def _advice(run: OperationRun[K, A, R], connection: Connection, endpoint_type: EndpointType) -> str:
    """Return what to do where a node does not offer an operation's API."""
    if endpoint_type is not EndpointType.CONTROLLER:
        return ""
    # A controller that serves administrators (KIP-919) offers all of its release's APIs that
    # are declared for controllers; a broker that offers more has to be of a later release.
    if run.operation.row.reach is Reach.LISTED and DescribeClusterRequest.key in (
        connection.node.api_versions
    ):
        return "; its release is too old, and so are brokers of the same release"
    return "; give brokers as `bootstrap_servers` instead"
