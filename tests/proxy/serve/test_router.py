"""Nothing that may have been carried out is sent twice."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from kwire.codec.declaration import Request
from kwire.controller.handlers.envelope import opened
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
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.net.address import Address
from kwire.net.frames import RequestFrame, decode_request, encode_response
from kwire.net.service import RequestContext
from kwire.net.tls import ClientTls
from kwire.observer import LiveImage
from kwire.proxy import Listener
from kwire.proxy.flows.flow import ClientConnection
from kwire.proxy.serve.callers import Caller
from kwire.proxy.serve.router import ACTIVE_CONTROLLER_APIS, READ_APIS, ControllerRouter
from kwire.proxy.serve.served_cluster import ServedCluster
from scripted_node import HANG_UP, Raw, Script, ScriptedNode
from tests.support.certificates import Authority

PATIENCE = 60.0
REQUEST = CreateTopicsRequest(topics=[CreatableTopic(name="orders")])
CONTEXT = RequestContext(
    version=7, correlation_id=1, client_id="me", listener="CONTROLLER", peer=("127.0.0.1", 1)
)

ANYBODY = Caller()
ALICE = Caller("User:alice")


def answered(code: int) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[CreatableTopicResult(name="orders", error_code=code)])


async def routed(
    node: ScriptedNode,
    tls: ClientTls | None = None,
    caller: Caller = ANYBODY,
    **settings: Any,
) -> tuple[CreateTopicsResponse, str]:
    """Route a request to a node that leads; return the response and the node's name.

    settings: of the ServedCluster.
    """
    upstream = Address("127.0.0.1", node.port)
    listener = Listener(node_id=3000, upstream=upstream, upstream_tls=tls)
    cluster = ServedCluster([listener], **settings)
    live = cast(Any, LiveImage([]))
    live.leader = upstream
    live.observer.leader_id = 3000
    cluster.live = live
    try:
        async with asyncio.timeout(PATIENCE):
            found = await ControllerRouter(cluster).route(REQUEST, CONTEXT, caller)
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


def in_envelope(frame: RequestFrame) -> EnvelopeResponse:
    """Answer a CreateTopics in an envelope, as a controller does that lets its sender in."""
    assert isinstance(frame.body, EnvelopeRequest)
    inner = decode_request(frame.body.request_data)
    assert (inner.version, inner.header.client_id) == (7, "me")
    assert inner.body == REQUEST
    number = inner.header.correlation_id
    return EnvelopeResponse(
        response_data=encode_response(answered(0), inner.version, correlation_id=number)[4:]
    )


@pytest.fixture
def own_principal(tmp_path: Path) -> Path:
    """Properties that give the proxy's connections a principal of their own."""
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=PLAINTEXT\n")
    return file


async def test_a_change_carries_the_clients_principal_and_address(own_principal: Path) -> None:
    async with ScriptedNode({EnvelopeRequest: in_envelope}) as node:
        caller = Caller("User:alice", by_delegation_token=True)
        response, who = await routed(node, caller=caller, client_config=own_principal)
        assert [topic.error_code for topic in response.topics] == [0]
        assert who == "node 3000"
        (sent,) = node.requests(EnvelopeRequest)
        assert isinstance(sent, EnvelopeRequest)
        opened_envelope = opened(sent)
        assert (opened_envelope.principal, opened_envelope.host) == ("User:alice", "127.0.0.1")
        assert opened_envelope.by_delegation_token


@pytest.mark.parametrize(
    "code", [ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE]
)
async def test_an_envelope_that_is_refused_is_never_sent_without(
    own_principal: Path, code: ErrorCode
) -> None:
    scripts: dict[type[Request], Script] = {
        EnvelopeRequest: lambda frame: EnvelopeResponse(error_code=code),
        CreateTopicsRequest: lambda frame: answered(0),
    }
    async with ScriptedNode(scripts) as node:
        response, who = await routed(node, caller=ALICE, client_config=own_principal)
        assert [topic.error_code for topic in response.topics] == [ErrorCode.UNKNOWN_SERVER_ERROR]
        assert who == f"node 3000, which refuses its Envelope: {code.name}"
        assert node.requests(CreateTopicsRequest) == []


async def test_an_envelope_that_reaches_no_active_controller_is_sent_again(
    own_principal: Path,
) -> None:
    answers = [EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)]

    def script(frame: RequestFrame) -> EnvelopeResponse:
        return answers.pop() if answers else in_envelope(frame)

    async with ScriptedNode({EnvelopeRequest: script}) as node:
        response, _ = await routed(node, caller=ALICE, client_config=own_principal)
        assert [topic.error_code for topic in response.topics] == [0]


async def test_rights_that_are_lent_need_no_envelope(own_principal: Path) -> None:
    async with ScriptedNode({CreateTopicsRequest: lambda frame: answered(0)}) as node:
        response, _ = await routed(
            node, caller=Caller(None), client_config=own_principal, lend_rights=True
        )
        assert [topic.error_code for topic in response.topics] == [0]


NOBODY = frozenset[int]()
READS = READ_APIS
EVERYTHING = frozenset(ACTIVE_CONTROLLER_APIS) | READS
FORWARDED = frozenset(ACTIVE_CONTROLLER_APIS)


@pytest.mark.parametrize(
    ("settings", "caller", "may"),
    [
        ({}, Caller(None), EVERYTHING),
        ({"client_config": True}, Caller(None), READS),
        ({"client_config": True}, Caller(None, proved=False), NOBODY),
        ({"client_config": True}, Caller("User:ANONYMOUS", proved=False), FORWARDED),
        ({"client_config": True}, ALICE, EVERYTHING),
        ({"client_config": True, "lend_rights": True}, Caller(None), EVERYTHING),
    ],
)
def test_nothing_is_routed_with_rights_of_the_proxy_but_reads_of_those_who_logged_in(
    own_principal: Path, settings: dict[str, Any], caller: Caller, may: frozenset[int]
) -> None:
    if "client_config" in settings:
        settings = settings | {"client_config": own_principal}
    listener = Listener(node_id=3000, upstream=Address("127.0.0.1", 9))
    router = ControllerRouter(ServedCluster([listener], **settings))
    assert {key for key in router.apis if router.may_route(key, caller)} == may


def test_nodes_know_clients_behind_the_proxys_certificate_as_they_like(
    tmp_path: Path, own_principal: Path
) -> None:
    authority = Authority(tmp_path, "nodes")
    pem = authority.issue("proxy")
    tls = ClientTls(authorities=authority.path, certificate=pem.certificate, key=pem.key)
    upstream = Address("127.0.0.1", 9)
    listener = Listener(node_id=3000, upstream=upstream, upstream_tls=tls)
    cluster = ServedCluster([listener], client_config=own_principal)
    connection = ClientConnection(number=1, node_id=3000, client="a:1", upstream="b:1", at=0.0)
    assert cluster.caller(connection, 0.0) == Caller(None, proved=False)
