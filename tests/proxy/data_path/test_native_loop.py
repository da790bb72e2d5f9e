"""The loop in C moves what is plain, tells what it counted, and gives back all else."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from threading import Thread

import pytest

from kwire.proxy import (
    Address,
    Copies,
    CountedFlows,
    Direction,
    Event,
    Interest,
    Limits,
    Listener,
    Notice,
    NoticeKind,
    Outcome,
    Proxy,
    Wants,
    count_everything,
    tap_everything,
)
from kwire.proxy.data_path.side import READ_SIZE, WRITE_LIMIT
from tests.support.eventually import eventually
from tests.support.proxy.data_path import conversations
from tests.support.proxy.data_path.proxied_node import Serve, flows, node
from tests.support.proxy.notices import notice_texts

pytestmark = pytest.mark.usefixtures("at_once")

METADATA = 3


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the proxy look at its connections all the time, and move them as soon as it can."""
    monkeypatch.setattr(Limits, "tick", 0.003)


def request(number: int, client: str = "me", size: int = 0) -> bytes:
    """A Metadata request, which the node here answers with so many bytes."""
    return conversations.request(METADATA, 0, number, client, size.to_bytes(4, "big"))


def response(number: int, size: int = 0) -> bytes:
    return conversations.response(number, bytes(size))


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request with as many bytes as its last four say."""
    while True:
        try:
            frame = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
        except (asyncio.IncompleteReadError, ConnectionError):
            break
        writer.write(response(int.from_bytes(frame[4:8], "big"), int.from_bytes(frame[-4:], "big")))
    writer.close()


@dataclass
class Here:
    """A proxy in front of such a node, and what it has told."""

    proxy: Proxy
    host: str
    port: int
    events: list[Event]
    counted: list[CountedFlows]
    at_node: list[asyncio.StreamWriter]
    reader: asyncio.StreamReader = field(init=False)
    writer: asyncio.StreamWriter = field(init=False)

    @property
    def away(self) -> int:
        """The number of connections that the loops move."""
        return sum(map(len, self.proxy._native))

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)

    async def ask(self, number: int, client: str = "me", size: int = 0) -> None:
        self.writer.write(request(number, client, size))
        expected = response(number, size)
        assert await self.reader.readexactly(len(expected)) == expected

    async def moved(self, connections: int = 1) -> None:
        """Wait until the loop has so many connections."""
        await eventually(lambda: self.away == connections)

    async def ask_without_reading(self, number: int, size: int) -> asyncio.Transport:
        """Ask, and wait until the node can send no more; return what reads on."""
        transport = self.writer.transport
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        self.writer.write(request(number, size=size))
        await self._stands_still()
        return transport

    async def _stands_still(self) -> None:
        before, waits = -1, 0
        while not waits or waits != before:
            await asyncio.sleep(0.3)
            before, waits = waits, self.at_node[-1].transport.get_write_buffer_size()

    async def end(self) -> None:
        self.writer.close()
        await eventually(lambda: not self.proxy.connections)


@asynccontextmanager
async def here(
    wants: Wants = count_everything,
    limits: Limits | None = None,
    copies: Copies | None = None,
    talk: Serve = answer,
) -> AsyncIterator[Here]:
    events: list[Event] = []
    counted: list[CountedFlows] = []
    at_node: list[asyncio.StreamWriter] = []

    async def remembered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        at_node.append(writer)
        await talk(reader, writer)

    async with node(remembered) as upstream:
        listener = Listener(node_id=1, upstream=upstream)
        async with Proxy(
            [listener],
            sinks=[events.append],
            wants=wants,
            limits=limits,
            copies=copies,
            counted=counted.append,
        ) as proxy:
            address = proxy.addresses[listener]
            yield Here(proxy, address.host, address.port, events, counted, at_node)


async def test_flows_that_nobody_needs_are_counted() -> None:
    async with here() as run:
        await run.connect()
        await run.ask(0)
        await run.moved()
        for number in range(1, 11):
            await run.ask(number, size=100)
        await run.end()
        one_by_one = flows(run.events)
    # Those of before it moved, and the first one there, of which it had to ask.
    assert len(one_by_one) <= 2
    assert {(it.connection.client_id, it.client_id, it.key) for it in run.counted} == {
        ("me", "me", METADATA)
    }
    assert sum(it.requests for it in run.counted) + len(one_by_one) == 11
    assert sum(sum(it.buckets) for it in run.counted) == sum(it.requests for it in run.counted)
    asked = sum(it.request_bytes for it in run.counted) + sum(it.request_size for it in one_by_one)
    assert asked == 11 * (len(request(0)) - 4)
    answered = sum(it.response_bytes for it in run.counted)
    assert answered + sum(it.response_size or 0 for it in one_by_one) == 11 * 4 + 10 * 100
    closed = [it.text for it in run.events if isinstance(it, Notice)]
    assert closed[-1] == "node 1 closed last"


async def test_another_client_id_comes_back_and_goes_again() -> None:
    async with here(tap_everything) as run:
        await run.connect()
        await run.ask(0)
        await run.moved()
        await run.ask(1, client="another")
        assert run.away == 0
        await run.moved()
        await run.ask(2, client="another")
        await run.end()
    assert [flow.client_id for flow in flows(run.events)] == ["me", "another", "another"]
    assert [flow.request_copy for flow in flows(run.events)] == [
        request(0)[4:],
        request(1, "another")[4:],
        request(2, "another")[4:],
    ]


async def test_a_connection_moves_while_a_long_response_is_copied() -> None:
    """A reader of long responses has one under way whenever the proxy looks at it."""
    long, goes_on = response(0, 100_000), asyncio.Event()

    async def half_and_half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(request(0)))
        writer.write(long[:50_000])
        await goes_on.wait()
        writer.write(long[50_000:])
        await reader.read()
        writer.close()

    copies = Copies()
    async with here(tap_everything, copies=copies, talk=half_and_half) as run:
        await run.connect()
        run.writer.write(request(0))
        await run.reader.readexactly(50_000)
        await run.moved()
        goes_on.set()
        assert await run.reader.readexactly(50_004 + 4) == long[50_000:]
        await run.end()
    [flow] = flows(run.events)
    assert (flow.request_copy, flow.response_copy) == (request(0)[4:], long[4:])
    assert copies.held == 0


async def test_a_response_that_nobody_waits_for_is_told_of_and_passes() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(request(0)))
        writer.write(response(0))
        await reader.readexactly(len(request(1)))
        writer.write(response(7) + response(1))
        await reader.read()
        writer.close()

    async with here(tap_everything, talk=talk) as run:
        await run.connect()
        await run.ask(0)
        await run.moved()
        run.writer.write(request(1))
        both = response(7) + response(1)
        assert await run.reader.readexactly(len(both)) == both
        await run.end()
    [told] = notice_texts(run.events, NoticeKind.UNREADABLE)
    assert told.startswith("a response with correlation id 7, which no request waits for")
    assert [flow.outcome for flow in flows(run.events)] == [Outcome.ANSWERED, Outcome.ANSWERED]


async def test_a_wish_that_changes_is_asked_for_again() -> None:
    interest = Interest.COUNT

    def wants(key: int, version: int, direction: Direction) -> Interest:
        return interest

    async with here(wants) as run:
        await run.connect()
        await run.ask(0)
        await run.moved()
        await run.ask(1)
        await run.ask(2)
        interest = Interest.TAP
        run.proxy.look_again()
        await run.ask(3, size=5)
        await run.end()
    last = flows(run.events)[-1]
    assert sum(it.requests for it in run.counted) + len(flows(run.events)) == 4
    assert run.counted
    assert (last.request_copy, last.response_copy) == (
        request(3, size=5)[4:],
        response(3, 5)[4:],
    )


async def test_connections_are_spread_among_threads() -> None:
    async with here(limits=Limits(threads=2)) as run:
        open_ones = []
        for number in range(4):
            await run.connect()
            open_ones.append(run.writer)
            await run.ask(0)
            await run.moved(number + 1)
        assert [len(loop) for loop in run.proxy._native] == [2, 2]
        for writer in open_ones:
            writer.close()
        await eventually(lambda: not run.proxy.connections)


async def test_a_slow_reader_costs_its_own_connection_speed_and_no_memory() -> None:
    size = 64 * READ_SIZE
    async with here() as run:
        await run.connect()
        await run.ask(0)
        await run.moved()
        transport = await run.ask_without_reading(1, size)
        [relay] = run.proxy._relays
        departure = relay._departure
        assert departure is not None
        assert departure._loop is not None
        assert departure._number is not None
        state = departure._loop.take(departure._number)
        assert state is not None
        assert 0 < len(state.client.unsent) <= READ_SIZE + WRITE_LIMIT
        departure.come_back(state)
        transport.resume_reading()
        expected = response(1, size)
        assert await run.reader.readexactly(len(expected)) == expected
        await run.end()


async def test_a_slow_reader_keeps_its_pace_when_its_connection_comes_back() -> None:
    size = 64 * READ_SIZE
    async with here() as run:
        await run.connect()
        await run.ask(0)
        await run.moved()
        transport = await run.ask_without_reading(1, size)
        run.writer.write_eof()
        await run.moved(0)
        [relay] = run.proxy._relays
        await eventually(lambda: relay.client.unsent > 0)
        await asyncio.sleep(0.2)
        assert relay.client.unsent <= READ_SIZE + WRITE_LIMIT
        transport.resume_reading()
        expected = response(1, size)
        assert await run.reader.readexactly(len(expected)) == expected
        await run.end()


async def test_the_side_that_closed_first_is_known_when_a_connection_comes_back() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(request(0)))
        writer.write(response(0))
        await reader.readexactly(len(request(1)))
        writer.write(response(1))
        writer.write_eof()
        await reader.read()
        writer.close()

    async with here(talk=talk) as run:
        await run.connect()
        await run.ask(0)
        await run.moved()
        await run.ask(1)
        assert await run.reader.read() == b""
        run.writer.write(request(2))
        run.writer.write_eof()
        await eventually(lambda: not run.proxy.connections)
        await run.end()
    assert flows(run.events)[-1].problems == ["the connection ended: the client closed last"]


async def test_a_response_is_copied_that_is_wanted_only_since_its_request() -> None:
    interest, goes_on = Interest.COUNT, asyncio.Event()

    def wants(key: int, version: int, direction: Direction) -> Interest:
        return interest

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for number in range(3):
            await reader.readexactly(len(request(0)))
            if number == 2:
                await goes_on.wait()
            writer.write(response(number))
        await reader.read()
        writer.close()

    async with here(wants, talk=talk) as run:
        await run.connect()
        await run.ask(0)
        await run.moved()
        await run.ask(1)
        run.writer.write(request(2))
        await asyncio.sleep(0.05)
        interest = Interest.TAP
        run.proxy.look_again()
        goes_on.set()
        assert await run.reader.readexactly(8) == response(2)
        await run.end()
    last = flows(run.events)[-1]
    assert (last.correlation_id, last.request_copy) == (2, None)
    assert last.response_copy == response(2)[4:]


def serve_blocking(listening: socket.socket) -> None:
    """Answer one connection as `answer` does, in a thread, up to its end."""
    connection, _ = listening.accept()
    with connection, connection.makefile("rb") as requests:
        while size := requests.read(4):
            frame = requests.read(int.from_bytes(size, "big"))
            number, wanted = (int.from_bytes(frame[at], "big") for at in (_NUMBER, _SIZE))
            connection.sendall(response(number, wanted))


_NUMBER, _SIZE = slice(4, 8), slice(-4, None)


async def test_a_python_that_is_busy_loses_no_copy() -> None:
    """The loop waits for it, rather than to have no room for copies."""
    count, size = 200, 100_000
    copies = Copies(copy_limit=size + 100, memory_limit=8_000_000)
    events: list[Event] = []

    def read(responses: int) -> None:
        left = responses * len(response(1, size))
        while left:
            left -= len(client.recv(min(left, 1 << 16)))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = Thread(target=serve_blocking, args=[listening])
        serving.start()
        listener = Listener(node_id=1, upstream=Address(*listening.getsockname()))
        async with Proxy([listener], sinks=[events.append], copies=copies) as proxy:
            address = proxy.addresses[listener]
            run = Here(proxy, address.host, address.port, events, [], [])
            client = socket.create_connection((address.host, address.port))
            client.sendall(request(0, size=size))
            await asyncio.to_thread(read, 1)
            await run.moved()
            client.sendall(b"".join(request(number, size=size) for number in range(1, count)))
            reading = Thread(target=read, args=[count - 1])
            reading.start()
            time.sleep(0.3)  # noqa: ASYNC251
            await asyncio.to_thread(reading.join)
            client.close()
            await eventually(lambda: not proxy.connections)
        await asyncio.to_thread(serving.join)
    assert [len(flow.response_copy or b"") for flow in flows(events)] == [4 + size] * count
    assert copies.dropped == 0
