"""TLS on either side of the proxy or on both: what passes, and what is refused and told."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kwire.net.accepting import stop_accepting
from kwire.net.address import Address
from kwire.net.stores import BadTls
from kwire.net.tls import ClientTls, ServerTls
from kwire.proxy import Event, Flow, Limits, Listener, Notice, NoticeKind, Proxy
from tests.support.certificates import Authority, Pem
from tests.support.eventually import eventually
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE, grant, kinds
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.notices import notice_texts

LONG = FetchableTopicResponse(partitions=[PartitionData(records=bytes(20 * 1024 * 1024))])


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "ours")


@pytest.fixture
def stranger(tmp_path: Path) -> Authority:
    """Return an authority that nobody here trusts."""
    return Authority(tmp_path, "theirs")


@asynccontextmanager
async def node(context: ssl.SSLContext | None) -> AsyncIterator[Address]:
    """Run a node that answers every Vote, over TLS if it has a context."""
    server = await asyncio.start_server(grant, "127.0.0.1", 0, ssl=context)
    yield Address(*server.sockets[0].getsockname())
    await stop_accepting(server)
    await server.wait_closed()


@asynccontextmanager
async def proxied(
    upstream: Address,
    events: list[Event],
    tls: ServerTls | None = None,
    upstream_tls: ClientTls | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[Address]:
    listener = Listener(node_id=3000, upstream=upstream, tls=tls, upstream_tls=upstream_tls)
    async with Proxy([listener], sinks=[events.append], limits=limits) as proxy:
        yield proxy.addresses[listener]
        await eventually(lambda: not proxy.connections)


async def ask(address: Address, context: ssl.SSLContext | None, count: int = 1) -> list[bytes]:
    """Send as many Votes and return the responses; then close."""
    reader, writer = await asyncio.open_connection(address.host, address.port, ssl=context)
    answers = []
    try:
        for _ in range(count):
            writer.write(VOTE)
            answers.append(await reader.readexactly(len(GRANTED)))
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
    return answers


def shake_hands(address: Address, context: ssl.SSLContext) -> bytes:
    """Shake hands with a socket that sends TLS alerts, unlike asyncio; return what it received."""
    with suppress(ssl.SSLError, ConnectionError):
        plain = socket.create_connection((address.host, address.port), timeout=60)
        with plain, context.wrap_socket(plain, server_hostname=address.host) as over_tls:
            return over_tls.recv(1)
    return b""


def server_tls(pem: Pem, clients: Path | None = None) -> ServerTls:
    return ServerTls(certificate=pem.certificate, key=pem.key, clients=clients)


def handshake_failures(events: list[Event]) -> list[str]:
    return notice_texts(events, NoticeKind.HANDSHAKE_FAILED)


@pytest.mark.parametrize("before", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("behind", [False, True], ids=["plain", "tls"])
async def test_each_side_has_tls_or_not(authority: Authority, before: bool, behind: bool) -> None:
    events: list[Event] = []
    tls = server_tls(authority.issue("127.0.0.1")) if before else None
    upstream_tls = ClientTls(authorities=authority.path) if behind else None
    async with (
        node(authority.server("127.0.0.1") if behind else None) as upstream,
        proxied(upstream, events, tls, upstream_tls) as address,
    ):
        context = authority.client() if before else None
        assert await ask(address, context, 3) == [GRANTED] * 3
    assert kinds(events) == [NoticeKind.OPENED, NoticeKind.CLOSED]
    flows = [event for event in events if isinstance(event, Flow)]
    assert [(flow.api, flow.request_copy) for flow in flows] == [("Vote", VOTE[4:])] * 3


async def test_a_slow_client_gets_all_of_a_long_answer(authority: Authority) -> None:
    answer = answered(FetchResponse(responses=[LONG]), 11, 1)

    async def fetch(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(4)
        writer.write(answer)
        await reader.read(-1)
        writer.close()

    events: list[Event] = []
    tls = server_tls(authority.issue("127.0.0.1"))
    upstream_tls = ClientTls(authorities=authority.path)
    context = authority.server("127.0.0.1")
    server = await asyncio.start_server(fetch, "127.0.0.1", 0, ssl=context)
    upstream = Address(*server.sockets[0].getsockname())
    async with server, proxied(upstream, events, tls, upstream_tls) as address:
        trusting = authority.client()
        reader, writer = await asyncio.open_connection(
            address.host, address.port, ssl=trusting, limit=1000
        )
        writer.write(asked(FetchRequest(), 11, 1))
        assert await reader.readexactly(len(answer)) == answer
        writer.close()
        await writer.wait_closed()
    (flow,) = [event for event in events if isinstance(event, Flow)]
    assert flow.response_size == len(answer) - 4


async def test_certificates_are_wanted_and_shown_on_both_sides(authority: Authority) -> None:
    events: list[Event] = []
    pem = authority.issue("127.0.0.1")
    upstream_tls = ClientTls(authorities=authority.path, certificate=pem.certificate, key=pem.key)
    async with (
        node(authority.server("127.0.0.1", clients=authority)) as upstream,
        proxied(upstream, events, server_tls(pem, authority.path), upstream_tls) as address,
    ):
        assert await ask(address, authority.client(pem)) == [GRANTED]
    assert handshake_failures(events) == []


async def test_a_client_that_fails_is_told_of_once_and_others_are_not_touched(
    authority: Authority, stranger: Authority
) -> None:
    events: list[Event] = []
    tls = server_tls(authority.issue("127.0.0.1"), clients=authority.path)
    ours = authority.client(authority.issue("me"))
    async with node(None) as upstream, proxied(upstream, events, tls) as address:
        reader, writer = await asyncio.open_connection(address.host, address.port, ssl=ours)
        for _ in range(3):
            plain_reader, plain = await asyncio.open_connection(address.host, address.port)
            plain.write(VOTE)
            assert await plain_reader.read(1) in (b"", b"\x15")  # closed, or an alert before it
            plain.close()
            for context in (stranger.client(), authority.client()):
                assert not await asyncio.to_thread(shake_hands, address, context)
        await eventually(lambda: len(handshake_failures(events)) == 3)
        writer.write(VOTE)
        assert await reader.readexactly(len(GRANTED)) == GRANTED
        writer.close()
        await writer.wait_closed()
    assert sorted(handshake_failures(events)) == [
        "127.0.0.1 does not speak TLS",
        "127.0.0.1 does not trust the certificate it is shown",
        "127.0.0.1 shows no certificate, which is required",
    ]
    assert [kind for kind in kinds(events) if kind is NoticeKind.OPENED] == [NoticeKind.OPENED]


async def test_a_silent_client_does_not_wait_for_ever(authority: Authority) -> None:
    events: list[Event] = []
    tls = server_tls(authority.issue("127.0.0.1"))
    limits = Limits(connect=0.2)
    async with node(None) as upstream, proxied(upstream, events, tls, limits=limits) as address:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        assert await reader.read() == b""
        writer.close()
        await eventually(lambda: bool(handshake_failures(events)))
    assert handshake_failures(events) == ["127.0.0.1 does not go on with the TLS handshake"]


async def test_a_handshake_is_cut_when_the_proxy_stops(authority: Authority) -> None:
    events: list[Event] = []
    tls = server_tls(authority.issue("127.0.0.1"))
    async with node(None) as upstream:
        async with proxied(upstream, events, tls) as address:
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(b"\x16")
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
    assert events == []


@pytest.mark.parametrize(
    ("hosts", "trusted", "name", "check", "reason"),
    [
        (["127.0.0.1"], True, None, True, ""),
        (["kafka-1.example"], True, None, True, "IP address mismatch"),
        (["kafka-1.example"], True, "kafka-1.example", True, ""),
        (["kafka-1.example"], True, "kafka-2.example", True, "Hostname mismatch"),
        (["kafka-1.example"], True, None, False, ""),
        (["127.0.0.1"], False, None, False, "unable to get local issuer certificate"),
    ],
)
async def test_the_nodes_certificate_must_be_right(
    authority: Authority,
    stranger: Authority,
    hosts: list[str],
    trusted: bool,
    name: str | None,
    check: bool,
    reason: str,
) -> None:
    events: list[Event] = []
    authorities = (authority if trusted else stranger).path
    upstream_tls = ClientTls(authorities=authorities, name=name, check_name=check)
    async with (
        node(authority.server(*hosts)) as upstream,
        proxied(upstream, events, upstream_tls=upstream_tls) as address,
    ):
        if not reason:
            assert await ask(address, None) == [GRANTED]
            return
        for _ in range(2):
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await ask(address, None)
    (text,) = handshake_failures(events)
    assert text.startswith(f"{upstream} shows a certificate that is not accepted: ")
    assert reason in text


def refuse(server: socket.socket, context: ssl.SSLContext) -> None:
    """Take one connection, as far as TLS lets it come, and say why not."""
    plain, _ = server.accept()
    with context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False) as over_tls:
        over_tls.settimeout(60)
        with pytest.raises(ssl.SSLError):
            over_tls.do_handshake()
        # To close with bytes unread would reset the connection: the reason may be lost then.
        while socket.socket.recv(over_tls, 65536):
            pass


async def test_a_node_that_wants_a_certificate_is_told_of(authority: Authority) -> None:
    """In TLS 1.3 it says so only when the handshake is done for the proxy."""
    upstream_tls = ClientTls(authorities=authority.path)
    events: list[Event] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        context = authority.server("127.0.0.1", clients=authority)
        refused = asyncio.create_task(asyncio.to_thread(refuse, server, context))
        upstream = Address(*server.getsockname())
        async with proxied(upstream, events, upstream_tls=upstream_tls) as address:
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await ask(address, None)
        await refused
    (closed,) = [
        event for event in events if isinstance(event, Notice) and event.kind is NoticeKind.CLOSED
    ]
    assert closed.text == "node 3000 requires a certificate, and got none"


async def test_a_node_without_tls_is_told_of(authority: Authority) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(GRANTED)
        writer.close()

    events: list[Event] = []
    async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
        upstream = Address(*server.sockets[0].getsockname())
        upstream_tls = ClientTls(authorities=authority.path)
        async with proxied(upstream, events, upstream_tls=upstream_tls) as address:
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await ask(address, None)
    assert handshake_failures(events) == [f"{upstream} does not speak TLS"]


async def test_certificates_are_read_again_for_the_connections_to_come(
    authority: Authority, stranger: Authority
) -> None:
    pem, newer = authority.issue("127.0.0.1"), stranger.issue("127.0.0.1")
    async with node(None) as upstream:
        listener = Listener(node_id=1, upstream=upstream, tls=server_tls(pem))
        async with Proxy([listener]) as proxy:
            address = proxy.addresses[listener]
            assert await ask(address, authority.client()) == [GRANTED]
            pem.certificate.write_bytes(newer.certificate.read_bytes())
            with pytest.raises(BadTls, match="is not that of the certificate"):
                proxy.renew(listener)
            assert await ask(address, authority.client()) == [GRANTED]
            pem.key.write_bytes(newer.key.read_bytes())
            take_back = proxy.renew(listener)
            assert await ask(address, stranger.client()) == [GRANTED]
            take_back()
            assert await ask(address, authority.client()) == [GRANTED]


def test_files_that_cannot_be_used_are_named(authority: Authority, tmp_path: Path) -> None:
    pem, other = authority.issue("a"), authority.issue("b")
    empty, missing = tmp_path / "empty", tmp_path / "missing"
    empty.touch()
    wrong: dict[ServerTls | ClientTls, str] = {
        ServerTls(certificate=pem.certificate, key=other.key): "is not that of the certificate",
        ServerTls(certificate=empty, key=pem.key): "hold no certificate and key in PEM",
        ServerTls(certificate=pem.certificate, key=missing): f"cannot read {missing}: No such file",
        server_tls(pem, empty): f"{empty} holds no certificate in PEM",
        ClientTls(authorities=missing): f"cannot read {missing}: No such file",
    }
    for tls, said in wrong.items():
        with pytest.raises(BadTls, match=said):
            tls.context()
