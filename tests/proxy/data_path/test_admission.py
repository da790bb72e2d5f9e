"""The proxy's places are limited, in all and for each address, and so is the time for a login."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
import trustme

from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.net.tls import ServerTls
from kwire.proxy import Event, Limits, Listener, Notice, NoticeKind, Proxy
from kwire.proxy.data_path.admission import ConnectionCounts
from kwire.proxy.data_path.descriptors import SPARE, Descriptors
from kwire.proxy.flows.login import Identity, ObservedLogin
from tests.support.eventually import eventually
from tests.support.proxy.data_path.proxied_node import grant, node, proxied
from tests.support.proxy.dialogue import asked
from tests.support.virtual_time import in_virtual_time

HANDSHAKE = asked(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1)
BARE_HANDSHAKE = asked(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1)
TOKEN = asked(SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 2, 2)
BARE_TOKEN = b"\0\0\0\4\0a\0b"
METADATA = asked(MetadataRequest(), 12, 3)
VERSIONS = asked(ApiVersionsRequest(), 3, 4)
LOGIN = 5.0


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take everything, answer nothing."""
    await until_closed(reader)
    writer.close()


async def until_closed(reader: asyncio.StreamReader) -> None:
    with suppress(ConnectionError):
        while await reader.read(1000):
            pass


def texts_of(events: list[Event], kind: NoticeKind) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice) and event.kind is kind]


async def test_hundreds_of_connections_of_one_address_get_the_places_of_one() -> None:
    events: list[Event] = []
    async with proxied(grant, events, Limits(connections_per_ip=5)) as (address, proxy):
        clients = [await asyncio.open_connection(address.host, address.port) for _ in range(200)]
        ended = [asyncio.create_task(reader.read()) for reader, _ in clients]
        await eventually(lambda: sum(task.done() for task in ended) == 195)
        assert len(proxy.connections) == 5
        text = "127.0.0.1 is refused: it has 5 connections open, the most allowed for one address"
        assert texts_of(events, NoticeKind.REFUSED) == [text]  # once, however many try

        for task, (_, writer) in zip(ended, clients, strict=True):
            task.cancel()
            writer.transport.abort()
        await eventually(lambda: not proxy.connections)
        _, writer = await asyncio.open_connection(address.host, address.port)
        await eventually(lambda: len(proxy.connections) == 1)
        writer.transport.abort()


async def test_a_tls_handshake_has_a_place_and_gives_it_back(tmp_path: Path) -> None:
    authority = trustme.CA()
    pair = authority.issue_cert("localhost")
    pair.private_key_pem.write_to_path(tmp_path / "key.pem")
    pair.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    events: list[Event] = []
    limits = Limits(connections=1, connect=0.3)
    async with node(grant) as upstream, Proxy(sinks=[events.append], limits=limits) as proxy:
        tls = ServerTls(certificate=tmp_path / "cert.pem", key=tmp_path / "key.pem")
        address = await proxy.listen(Listener(node_id=1, upstream=upstream, tls=tls))
        for round in (1, 2):  # half open, until its time is over
            half = await asyncio.open_connection(address.host, address.port)
            refused = await asyncio.open_connection(address.host, address.port)
            assert await refused[0].read() == b""
            assert len(texts_of(events, NoticeKind.REFUSED)) == round
            assert await half[0].read() == b""
            for _, writer in (half, refused):
                writer.transport.abort()
    text = "127.0.0.1 is refused: 1 connections are open, the most allowed"
    assert texts_of(events, NoticeKind.REFUSED) == [text] * 2


@in_virtual_time
async def test_a_descriptor_is_promised_until_the_nodes_socket_is_there_or_none_will_be() -> None:
    """The system gives the lowest free number, so that of a client's socket says how many are."""
    descriptors = Descriptors(limit=SPARE + 1000)
    assert descriptors.refusal(999) == ""
    assert descriptors.refusal(1000).startswith(f"all but {SPARE} of {SPARE + 1000} open files are")
    events: list[Event] = []
    async with proxied(silent, events, descriptors=descriptors) as (address, proxy):
        clients = [await asyncio.open_connection(address.host, address.port) for _ in range(3)]
        await eventually(lambda: len(texts_of(events, NoticeKind.OPENED)) == 3)
        assert descriptors.refusal(999) == ""
        for _, writer in clients:
            writer.transport.abort()
        await eventually(lambda: not proxy.connections)
        assert descriptors.refusal(999) == ""
        descriptors.promise()
        assert descriptors.refusal(999) != ""


def test_hosts_that_were_refused_are_remembered_within_bounds() -> None:
    counts = ConnectionCounts(Limits(connections=10), Descriptors())
    assert all(counts.note_refusal(f"10.0.0.{number}") for number in range(25))
    assert not counts.note_refusal("10.0.0.24")


@pytest.mark.parametrize(
    ("data", "is_cut"),
    [
        pytest.param(VERSIONS + HANDSHAKE, True, id="no token"),
        pytest.param(HANDSHAKE + TOKEN, True, id="a token, and nothing behind it"),
        pytest.param(HANDSHAKE + TOKEN + HANDSHAKE + TOKEN, True, id="again and again"),
        pytest.param(BARE_HANDSHAKE + BARE_TOKEN * 3, True, id="bare tokens"),
        pytest.param(HANDSHAKE + TOKEN + METADATA, False, id="a request behind the login"),
        pytest.param(BARE_HANDSHAKE + BARE_TOKEN + METADATA, False, id="behind bare tokens"),
        pytest.param(VERSIONS, False, id="no login is seen: idle holds"),
    ],
)
@in_virtual_time
async def test_a_login_has_an_end(data: bytes, is_cut: bool) -> None:
    events: list[Event] = []
    limits = Limits(login=LOGIN, idle=100.0)
    async with proxied(silent, events, limits) as (address, _):
        loop = asyncio.get_running_loop()
        reader, writer = await asyncio.open_connection(address.host, address.port)
        began = loop.time()
        for byte in range(len(data)):  # in pieces, as a slow client sends it
            writer.write(data[byte : byte + 1])
        async with asyncio.timeout(150):
            await until_closed(reader)
        writer.transport.abort()
        took = loop.time() - began
    assert took == pytest.approx(LOGIN if is_cut else limits.idle, abs=2.0)
    text = "no request but those of a login in 5 s" if is_cut else "not a byte in 100 s"
    assert text in texts_of(events, NoticeKind.TIMED_OUT)[0]


@in_virtual_time
async def test_a_client_who_is_known_to_be_in_may_be_idle() -> None:
    events: list[Event] = []
    async with proxied(silent, events, Limits(login=LOGIN)) as (address, proxy):
        _, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(HANDSHAKE + TOKEN)
        await eventually(lambda: proxy.connections)
        login = proxy.connections[0].login = ObservedLogin()
        login.identity = Identity(user="alice")
        await asyncio.sleep(3 * LOGIN)
        assert texts_of(events, NoticeKind.TIMED_OUT) == []
        login.begin()
        await asyncio.sleep(LOGIN)
        assert texts_of(events, NoticeKind.TIMED_OUT) != []
        writer.transport.abort()


@in_virtual_time
async def test_a_session_may_be_renewed_and_not_used() -> None:
    """KIP-368, as librdkafka does it."""
    events: list[Event] = []
    async with proxied(silent, events, Limits(login=LOGIN)) as (address, _):
        _, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(HANDSHAKE + TOKEN + METADATA)
        await asyncio.sleep(2 * LOGIN)
        writer.write(HANDSHAKE + TOKEN)
        await asyncio.sleep(2 * LOGIN)
        assert texts_of(events, NoticeKind.TIMED_OUT) == []
        writer.transport.abort()
