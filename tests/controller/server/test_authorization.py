"""A node with an authorizer: raft's RPCs, Envelopes, and requests before the ACLs are loaded."""

import asyncio
import ssl
import struct
from typing import Any

import pytest
import trustme

from kwire.codec.declaration import Request
from kwire.controller.authorization.standard_authorizer import CLASS_NAME
from kwire.controller.raft import API_KEYS
from kwire.controller.server import listener
from kwire.controller.server.controller_apis import CLUSTER_NEEDS, RAFT_NEEDS
from kwire.controller.server.large_messages import LARGE_FRAME
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a29_describe_acls import DescribeAclsRequest
from kwire.messages.a43_elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.messages.error_response import error_response
from kwire.messages.registry import api_keys, request
from kwire.net.connection import Connection
from kwire.net.distinguished_name import distinguished_name
from kwire.net.frames import decode_response, encode_response
from kwire.net.negotiation import api_versions_request
from kwire.testing.quorum import Quorum
from kwire.text.properties import parse_properties
from tests.support.controller.pem_stores import CONTROLLERS, stores
from tests.support.controller.server.echo_listener import answered
from tests.support.virtual_time import in_virtual_time

DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
GUARDED = {"authorizer.class.name": CLASS_NAME, "super.users": "User:somebody"}
OPEN = {"authorizer.class.name": CLASS_NAME, "super.users": "User:ANONYMOUS"}


async def ask(quorum: Quorum, *requests: Request) -> list[Any]:
    host, port = next(iter(quorum.addresses.values()))
    async with await Connection.open(host, port) as connection:
        return [await connection.send(request) for request in requests]


def test_every_rpc_of_rafts_needs_an_operation() -> None:
    assert RAFT_NEEDS.keys() == API_KEYS


async def test_rpcs_of_raft_and_envelopes_are_refused_to_those_who_may_not_send_them() -> None:
    rpcs = [request(key)() for key in sorted(API_KEYS)]
    async with Quorum(1, properties=GUARDED) as quorum:
        answers = await ask(quorum, EnvelopeRequest(), *rpcs)

    assert [answer.error_code for answer in answers] == [DENIED] * len(answers)


@pytest.mark.parametrize("pairs", [GUARDED, OPEN], ids=["refused", "let in"])
async def test_a_large_request_is_decoded_only_if_its_sender_may_send_it(
    pairs: dict[str, str],
) -> None:
    """Its body is rubbish here: whoever decodes it closes the connection."""
    names = (
        "CreateAcls",
        "AlterPartition",
        "AlterClientQuotas",
        "Envelope",
        "Vote",
        "DescribeAcls",
    )
    async with Quorum(1, properties=pairs) as quorum:
        await quorum.wait_for_leader()
        host, port = next(iter(quorum.addresses.values()))
        for key in api_keys(*names):
            version = request(key).versions.last
            head = struct.pack(">ihhih", LARGE_FRAME + 10, key, version, 7, -1)
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(head + b"\xff" * LARGE_FRAME)
            answer = await answered(reader)
            writer.transport.abort()
            if pairs is OPEN:
                assert answer == b""
                continue
            body: Any = decode_response(answer, key, version).body
            # The answers of some have an error beside each element only, and these are unknown.
            assert getattr(body, "error_code", DENIED) == DENIED


def test_every_api_has_an_answer_that_refuses_it_undecoded() -> None:
    for key in CLUSTER_NEEDS:
        for version in request(key).versions:
            refused = error_response(request(key)(), version, DENIED, "no")
            assert encode_response(refused, version, correlation_id=1)


async def test_everybody_may_ask_for_versions() -> None:
    async with Quorum(1, properties=GUARDED) as quorum:
        (answer,) = await ask(quorum, api_versions_request())

    assert answer.error_code == 0


async def test_unknown_elements_close_the_connection() -> None:
    async with Quorum(1, properties=OPEN) as quorum:
        with pytest.raises(KwireError):
            await ask(quorum, DescribeAclsRequest(operation=1, permission_type=1))


async def half_started(properties: dict[str, str]) -> Quorum:
    """One controller of two, which learns of no high watermark before the other one starts."""
    quorum = Quorum(2, properties=properties)
    await quorum.start_node(3000)
    return quorum


async def test_before_the_acls_are_loaded_only_super_users_get_an_answer() -> None:
    for properties, code in (
        (GUARDED, ErrorCode.UNKNOWN_SERVER_ERROR),
        (OPEN, ErrorCode.NOT_CONTROLLER),
    ):
        quorum = await half_started(properties)
        try:
            (answer,) = await ask(quorum, ElectLeadersRequest(topic_partitions=None))
            assert answer.error_code == code
        finally:
            await quorum.stop()


@in_virtual_time
async def test_a_listener_that_does_not_start_early_waits_for_the_acls() -> None:
    properties = GUARDED | {
        "super.users": "User:ANONYMOUS",
        # the other controller's requests come to this listener, too: one node alone waits for ever
        "early.start.listeners": "",
    }
    quorum = await half_started(properties)
    try:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await ask(quorum, ApiVersionsRequest())
    finally:
        await quorum.stop()
    async with Quorum(1, properties=properties) as alone:
        (answer,) = await ask(alone, ElectLeadersRequest())
    assert answer.error_code == 0


async def test_a_certificate_makes_a_principal_by_the_rules(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    authority = trustme.CA()
    read = parse_properties(
        "".join(
            f"{name}={value}\n"
            for name, value in (CONTROLLERS | stores(authority, "127.0.0.1", "localhost")).items()
        )
    )
    properties = read | {
        "ssl.client.auth": "requested",
        "ssl.principal.mapping.rules": "RULE:^CN=(alice|bob),.*$/$1/",
        "authorizer.class.name": CLASS_NAME,
        "super.users": "User:alice",
    }

    async def code(port: int, name: str | None) -> int:
        context = ssl.create_default_context()
        authority.configure_trust(context)
        if name is not None:
            authority.issue_cert("client", common_name=name).configure_cert(context)
        async with await Connection.open("127.0.0.1", port, ssl=context) as connection:
            answer = await connection.send(ElectLeadersRequest())
        assert isinstance(answer, ElectLeadersResponse)
        return answer.error_code

    async with Quorum(1, properties=properties) as quorum:
        port = quorum.members[3000].port
        assert [await code(port, name) for name in ("alice", "bob", None)] == [0, DENIED, DENIED]
        with pytest.raises(KwireError):  # no rule is for this name
            await code(port, "mallory")
        # ssl accepts more than kwire reads: that is a sentence, and no fault of the handler.
        caplog.set_level("INFO")
        cut = lambda data: distinguished_name(data[:9])  # noqa: E731
        monkeypatch.setattr(listener, "distinguished_name", cut)
        with pytest.raises(KwireError):
            await code(port, "alice")
    assert "is cut off: its certificate cannot be read: a value that is cut" in caplog.text
