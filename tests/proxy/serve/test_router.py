"""Nothing that may have been carried out is sent twice."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from kwire.codec.declaration import Request
from kwire.error_codes import ErrorCode
from kwire.errors import InvalidValue
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.net.address import Address
from kwire.net.frames import RequestFrame
from kwire.net.service import RequestContext
from kwire.net.tls import ClientTls
from kwire.observer import LiveImage
from kwire.proxy import Listener
from kwire.proxy.serve.router import ControllerRouter
from kwire.proxy.serve.served_cluster import ServedCluster
from scripted_node import HANG_UP, Raw, Script, ScriptedNode
from tests.support.certificates import Authority

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
    """Route a request to a node that leads; return the response and the node's name."""
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
        assert [topic.error_code for topic in response.topics] == [ErrorCode.REQUEST_TIMED_OUT]
        assert who == "node 3000: no answer"
        assert len(node.requests(CreateTopicsRequest)) == 1


async def test_an_answer_that_cannot_be_read_is_too() -> None:
    nonsense = Raw(data=(14).to_bytes(4, "big") + (1).to_bytes(4, "big") + b"\xff" * 10)
    async with ScriptedNode({CreateTopicsRequest: lambda frame: nonsense}) as node:
        response, _ = await routed(node)
        assert [topic.error_code for topic in response.topics] == [ErrorCode.REQUEST_TIMED_OUT]
        assert len(node.requests(CreateTopicsRequest)) == 1


async def test_who_leads_no_more_did_nothing_and_it_is_sent_again() -> None:
    codes = [ErrorCode.NOT_CONTROLLER, ErrorCode.NOT_CONTROLLER, ErrorCode.NONE]

    def script(frame: RequestFrame) -> CreateTopicsResponse:
        return answered(codes.pop(0))

    async with ScriptedNode({CreateTopicsRequest: script}) as node:
        response, who = await routed(node)
        assert [topic.error_code for topic in response.topics] == [0]
        assert who == "node 3000"
        assert len(node.requests(CreateTopicsRequest)) == 3


@pytest.mark.parametrize(
    ("host", "tls"),
    [
        ("127.0.0.1", {}),
        ("kafka.example", {"name": "kafka.example"}),
        ("kafka.example", {"check_name": False}),
    ],
)
async def test_the_proxy_speaks_tls_where_its_listeners_do(
    tmp_path: Path, host: str, tls: dict[str, Any]
) -> None:
    authority = Authority(tmp_path, "nodes")
    async with ScriptedNode(
        {CreateTopicsRequest: lambda frame: answered(0)}, ssl=authority.server(host)
    ) as node:
        response, _ = await routed(node, ClientTls(authorities=authority.path, **tls))
        assert [topic.error_code for topic in response.topics] == [0]


async def test_new_connections_log_in_as_the_file_says_since_it_was_read_again(
    tmp_path: Path,
) -> None:
    file = tmp_path / "client.properties"

    def login(user: str) -> str:
        sasl = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        return f"{sasl}sasl.jaas.config=M required username={user} password=pw;"

    taken: list[bytes] = []

    def authenticate(frame: RequestFrame) -> SaslAuthenticateResponse:
        assert isinstance(frame.body, SaslAuthenticateRequest)
        taken.append(frame.body.auth_bytes)
        return SaslAuthenticateResponse()

    scripts: dict[type[Request], Script] = {
        SaslHandshakeRequest: lambda frame: SaslHandshakeResponse(),
        SaslAuthenticateRequest: authenticate,
    }
    file.write_text(login("alice"))
    async with ScriptedNode(scripts) as node:
        address = Address("127.0.0.1", node.port)
        listener = Listener(node_id=3000, upstream=address)
        opener = ServedCluster([listener], client_config=file).connector
        assert opener.with_sasl

        async def logged_in() -> bytes:
            async with await opener(address):
                return taken[-1]

        assert await logged_in() == b"\0alice\0pw"
        file.write_text(login("bob"))
        assert await logged_in() == b"\0alice\0pw"
        take_back = opener.renew()
        assert await logged_in() == b"\0bob\0pw"
        take_back()
        assert await logged_in() == b"\0alice\0pw"
        file.write_text("security.protocol=SASL_PLAINTEXT")
        with pytest.raises(InvalidValue, match="is GSSAPI"):
            opener.renew()
        assert await logged_in() == b"\0alice\0pw"
