"""Nothing that may have been carried out is sent twice."""

import asyncio
from pathlib import Path
from typing import Any, cast

from kwire.address import Address
from kwire.apis.a19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.error_codes import ErrorCode
from kwire.frames import RequestFrame
from kwire.observer import LiveImage
from kwire.service import RequestContext
from kwire.tls import ClientTls
from proxy import Listener
from proxy.serve.router import ControllerRouter
from proxy.serve.served_cluster import ServedCluster
from scripted_node import HANG_UP, Raw, ScriptedNode
from tests.proxy.certificates import Authority

PATIENCE = 60.0
REQUEST = CreateTopicsRequest(topics=[CreatableTopic(name="orders")])
CONTEXT = RequestContext(
    version=7, correlation_id=1, client_id=None, listener="CONTROLLER", peer=("127.0.0.1", 1)
)


def answered(code: int) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[CreatableTopicResult(name="orders", error_code=code)])


async def routed(
    node: ScriptedNode, tls: ClientTls | None = None
) -> tuple[CreateTopicsResponse, str]:
    """What the router makes of a node that leads."""
    upstream = Address("127.0.0.1", node.port)
    cluster = ServedCluster([Listener(node_id=3000, upstream=upstream, upstream_tls=tls)])
    live = cast(Any, LiveImage([]))
    live.leader = upstream
    live.observer.leader_id = 3000
    cluster.live = live
    try:
        async with asyncio.timeout(PATIENCE):
            found = await ControllerRouter(cluster).route(REQUEST, CONTEXT)
    finally:
        await cluster.connections.close()
    assert found is not None
    assert isinstance(found.response, CreateTopicsResponse)
    return found.response, found.node


async def test_a_connection_that_breaks_after_sending_is_told_as_a_timeout() -> None:
    async with ScriptedNode({CreateTopicsRequest: lambda frame: HANG_UP}) as node:
        response, who = await routed(node)
        assert [one.error_code for one in response.topics] == [ErrorCode.REQUEST_TIMED_OUT]
        assert who == "node 3000: no answer"
        assert len(node.requests(CreateTopicsRequest)) == 1


async def test_an_answer_that_cannot_be_read_is_too() -> None:
    nonsense = Raw(data=(14).to_bytes(4, "big") + (1).to_bytes(4, "big") + b"\xff" * 10)
    async with ScriptedNode({CreateTopicsRequest: lambda frame: nonsense}) as node:
        response, _ = await routed(node)
        assert [one.error_code for one in response.topics] == [ErrorCode.REQUEST_TIMED_OUT]
        assert len(node.requests(CreateTopicsRequest)) == 1


async def test_who_leads_no_more_did_nothing_and_it_is_sent_again() -> None:
    codes = [ErrorCode.NOT_CONTROLLER, ErrorCode.NOT_CONTROLLER, ErrorCode.NONE]

    def script(frame: RequestFrame) -> CreateTopicsResponse:
        return answered(codes.pop(0))

    async with ScriptedNode({CreateTopicsRequest: script}) as node:
        response, who = await routed(node)
        assert [one.error_code for one in response.topics] == [0]
        assert who == "node 3000"
        assert len(node.requests(CreateTopicsRequest)) == 3


async def test_the_proxy_speaks_tls_where_its_listeners_do(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "nodes")
    tls = ClientTls(authorities=authority.path)
    async with ScriptedNode(
        {CreateTopicsRequest: lambda frame: answered(0)}, ssl=authority.server("127.0.0.1")
    ) as node:
        response, _ = await routed(node, tls)
        assert [one.error_code for one in response.topics] == [0]
