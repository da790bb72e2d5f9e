"""At a listener that a message caused, Kafka's frames pass to a Kafka node, and nothing else."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kwire.codec.declaration import Request
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.net.address import Address
from kwire.net.tls import ClientTls
from kwire.proxy import Event, Filters, Flow, Limits, Listener, NoticeKind, Proxy
from kwire.proxy.data_path.listener import ListenerGuard
from scripted_node import Script, ScriptedNode
from tests.support.certificates import Authority
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE, Serve, node
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.notices import notice_texts

PAGE = b"HTTP/1.0 200 OK\r\n\r\nfor this machine only"
GET = b"GET / HTTP/1.0\r\n\r\n"
VOTES: dict[type[Request], Script] = {VoteRequest: lambda frame: VoteResponse()}
VERSIONS = asked(ApiVersionsRequest(), 0, 2)
Answer = Callable[[bytes], bytes]


@dataclass
class Guarded:
    """A proxy whose only listener is guarded. received: what has come to the node."""

    address: Address
    guard: ListenerGuard
    proxy: Proxy
    events: list[Event]
    received: list[bytes] = field(default_factory=list)

    async def exchange(self, *sent: bytes) -> bytes:
        """Connect, send these one after the other, and return all that comes until the end."""
        reader, writer = await asyncio.open_connection(self.address.host, self.address.port)
        got = b""
        try:
            for data in sent:
                writer.write(data)
                async with asyncio.timeout(5):
                    got += await reader.read(1 << 16)
            writer.write_eof()
            async with asyncio.timeout(5):
                return got + await reader.read()
        except ConnectionError:
            return got
        finally:
            writer.close()

    def refused(self) -> list[str]:
        """Return the notices of what did not pass."""
        return notice_texts(self.events, NoticeKind.REFUSED)


@asynccontextmanager
async def guarded(
    upstream: Address,
    *,
    believed: bool = True,
    limits: Limits | None = None,
    filters: Filters | None = None,
    tls: ClientTls | None = None,
) -> AsyncIterator[Guarded]:
    events: list[Event] = []
    guard = ListenerGuard(believed=believed)
    listener = Listener(node_id=4, upstream=upstream, guard=guard, upstream_tls=tls)
    proxy = Proxy([listener], sinks=[events.append], limits=limits, filters=filters)
    unhandled: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, error: unhandled.append(error))
    async with proxy:
        yield Guarded(proxy.addresses[listener], guard, proxy, events)
    assert unhandled == []


def service(answer: Answer, received: list[bytes]) -> Serve:
    """Return a server that is no Kafka node: it answers the first bytes and closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(1 << 16))
        writer.write(answer(received[-1]))
        writer.close()

    return serve


def after_proof(*answers: bytes) -> Serve:
    """A node that proves itself and then sends these, one for each thing that comes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(unsupported(await reader.read(1 << 16)))
        for data in answers:
            if not await reader.read(1 << 16):
                break
            writer.write(data)
        await reader.read()
        writer.close()

    return serve


def unsupported(request: bytes) -> bytes:
    """Return Kafka 4.3.1's answer to an ApiVersions of a version that it lacks."""
    number = int.from_bytes(request[8:12], "big")
    return answered(ApiVersionsResponse(error_code=35), 0, number)


def wrong(request: bytes) -> bytes:
    """The answer to another request than the one that was sent."""
    other = request[:8] + bytes([request[8] ^ 1]) + request[9:]
    return unsupported(other)


@pytest.mark.parametrize(
    "answer",
    [
        lambda request: PAGE,
        lambda request: b"",
        lambda request: request,  # an echo
        wrong,
        lambda request: unsupported(request) + PAGE,
        lambda request: unsupported(request)[:-1],
        lambda request: answered(ApiVersionsResponse(), 0, int.from_bytes(request[8:12], "big")),
        lambda request: b"\x7f\xff\xff\xff" + bytes(64),
        lambda request: bytes(64),
    ],
)
@pytest.mark.parametrize("sent", [GET, VOTE], ids=["HTTP", "Kafka"])
async def test_nothing_passes_where_no_kafka_node_answers(answer: Answer, sent: bytes) -> None:
    received: list[bytes] = []
    async with node(service(answer, received)) as upstream, guarded(upstream) as here:
        assert await here.exchange(sent) == b""
        assert len(received) == 1
        assert sent not in received[0]
        assert here.refused() == [
            f"nothing passes to {upstream}: it does not answer ApiVersions as Kafka does"
        ]


async def test_what_does_not_answer_is_given_up_in_time() -> None:
    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with node(wait) as upstream, guarded(upstream, limits=Limits(connect=0.05)) as here:
        assert await here.exchange(VOTE) == b""
        assert len(here.refused()) == 1


@pytest.mark.parametrize("filters", [None, Filters()])
async def test_a_nodes_frames_pass(filters: Filters | None) -> None:
    async with ScriptedNode(VOTES) as scripted:
        upstream = Address.parse(scripted.address)
        async with guarded(upstream, filters=filters) as here:
            assert await here.exchange(VOTE) == GRANTED
            assert await here.exchange(VERSIONS, VOTE)
        assert len(scripted.requests(VoteRequest)) == 2
    assert here.refused() == []
    assert {event.api for event in here.events if isinstance(event, Flow)} == {
        "Vote",
        "ApiVersions",
    }


async def test_a_nodes_frames_pass_over_tls(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ours")
    tls = ClientTls(authorities=authority.path, check_name=False)
    async with (
        ScriptedNode(VOTES, ssl=authority.server("localhost")) as scripted,
        guarded(Address.parse(scripted.address), tls=tls) as here,
    ):
        assert await here.exchange(VOTE) == GRANTED


@pytest.mark.parametrize("filters", [None, Filters()])
@pytest.mark.parametrize(
    "sent", [GET, b"\x00\x00\x00\x02ab", b"\x80\x00\x00\x00", b"\x16\x03\x01\x02\x00\x01\x00"]
)
async def test_a_client_that_sends_no_frames_is_cut_off(
    sent: bytes, filters: Filters | None
) -> None:
    async with ScriptedNode() as scripted:
        async with guarded(Address.parse(scripted.address), filters=filters) as here:
            assert await here.exchange(VERSIONS, sent)
            assert len(here.refused()) == 1
        assert len(scripted.asked) == 1


@pytest.mark.parametrize("filters", [None, Filters()])
@pytest.mark.parametrize(
    "sent", [PAGE, answered(VoteResponse(), 2, 9) + PAGE, b"\x00\x00\x00\x02ab", GRANTED + PAGE]
)
async def test_a_node_that_sends_what_answers_no_request_is_cut_off(
    sent: bytes, filters: Filters | None
) -> None:
    async with node(after_proof(sent)) as upstream, guarded(upstream, filters=filters) as here:
        got = await here.exchange(VOTE)
        assert got in (b"", GRANTED)
        assert len(here.refused()) == 1


@pytest.mark.parametrize("filters", [None, Filters()])
async def test_before_a_node_has_named_it_only_what_recognizes_a_node_passes(
    filters: Filters | None,
) -> None:
    async with ScriptedNode(VOTES) as scripted:
        upstream = Address.parse(scripted.address)
        async with guarded(upstream, believed=False, filters=filters) as here:
            assert await here.exchange(VERSIONS)
            assert await here.exchange(VOTE) == b""
            assert here.refused() == [f"Vote does not pass: no node has named {upstream} yet"]
            here.guard.believed = True
            assert await here.exchange(VOTE) == GRANTED
        assert len(scripted.requests(VoteRequest)) == 1


async def test_a_listener_that_was_configured_passes_everything() -> None:
    events: list[Event] = []
    received: list[bytes] = []
    async with node(service(lambda request: PAGE, received)) as upstream:
        listener = Listener(node_id=4, upstream=upstream)
        async with Proxy([listener], sinks=[events.append]) as proxy:
            here = Guarded(proxy.addresses[listener], ListenerGuard(), proxy, events)
            assert await here.exchange(GET) == PAGE
    assert received == [GET]
