"""Connections through a proxy on loopback: what either end sees, and what is left: nothing."""

import asyncio
import socket
from typing import Any, cast

import pytest

from kwire.proxy import (
    Address,
    CannotListen,
    Event,
    Limits,
    Listener,
    Notice,
    NoticeKind,
    Outcome,
    Proxy,
)
from kwire.proxy.data_path.framer import Framing
from kwire.proxy.data_path.pass_through import FilterStage
from kwire.proxy.data_path.reach import Dials, Upstream
from kwire.proxy.data_path.relay import Relay
from tests.support.eventually import eventually
from tests.support.proxy.data_path.faulty_requests import FAULTS
from tests.support.proxy.data_path.proxied_node import (
    GRANTED,
    VOTE,
    flows,
    grant,
    kinds,
    node,
    proxied,
)
from tests.support.proxy.dialogue import Dialogue
from tests.support.virtual_time import in_virtual_time

pytestmark = pytest.mark.usefixtures("each_loop")


async def test_a_request_reaches_the_node_and_its_answer_the_client() -> None:
    events: list[Event] = []
    async with proxied(grant, events) as (address, proxy):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(VOTE)
        assert await reader.readexactly(len(GRANTED)) == GRANTED
        (connection,) = proxy.connections
        assert (connection.node_id, connection.number) == (3000, 1)
        writer.close()
        await eventually(lambda: not proxy.connections)
    assert kinds(events) == [NoticeKind.OPENED, NoticeKind.CLOSED]
    assert [flow.api for flow in flows(events)] == ["Vote"]
    assert events[0].connection.client == str(Address(*writer.get_extra_info("sockname")))


async def test_a_client_that_stops_sending_still_gets_its_answer() -> None:
    async def answer_at_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.read() == VOTE
        writer.write(GRANTED)
        writer.close()

    events: list[Event] = []
    async with proxied(answer_at_the_end, events) as (address, proxy):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(VOTE)
        writer.write_eof()
        assert await reader.read() == GRANTED
        await eventually(lambda: not proxy.connections)
        writer.close()
    assert [flow.outcome for flow in flows(events)] == [Outcome.ANSWERED]


@in_virtual_time
async def test_a_client_that_is_gone_before_the_node_is_sought_leaves_nothing() -> None:
    async with proxied(grant, []) as (address, proxy):
        loop = asyncio.get_running_loop()
        for _ in range(50):
            # Many are reset within the turn of the loop in which the proxy accepts them.
            client, _ = await loop.create_connection(asyncio.Protocol, address.host, address.port)
            client.abort()
        await asyncio.sleep(1)
        assert proxy.connections == ()


async def test_a_request_is_not_lost_where_a_pause_comes_too_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python 3.11.2 pauses a transport in connection_made, and then begins to read."""

    def begin(self: Any, *reader: Any) -> None:
        if not self.is_closing():
            self._loop._add_reader(*reader)

    monkeypatch.setattr("asyncio.selector_events._SelectorTransport._add_reader", begin)
    events: list[Event] = []
    async with proxied(grant, events) as (address, _):
        for _ in range(3):
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(VOTE)
            assert await reader.readexactly(len(GRANTED)) == GRANTED
            writer.close()
        await eventually(lambda: len(flows(events)) == 3)


async def test_a_node_that_closes_first_closes_the_client() -> None:
    async def drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(VOTE))
        writer.close()

    events: list[Event] = []
    async with proxied(drop, events) as (address, proxy):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(VOTE)
        assert await reader.read() == b""
        writer.close()
        await eventually(lambda: not proxy.connections)
    assert [flow.outcome for flow in flows(events)] == [Outcome.LOST]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_refused_connection_is_closed_and_told(host: str) -> None:
    events: list[Event] = []
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        dead = Listener(node_id=1, upstream=Address(host, unused.getsockname()[1]))
        async with Proxy([dead], sinks=[events.append]) as proxy:
            address = proxy.addresses[dead]
            reader, writer = await asyncio.open_connection(address.host, address.port)
            assert await reader.read() == b""
            writer.close()
            await eventually(lambda: not proxy.connections)
    assert kinds(events) == [NoticeKind.REFUSED]
    (refusal,) = events
    assert isinstance(refusal, Notice)
    assert refusal.text == f"{dead.upstream} does not accept connections: nothing listens there"


async def test_a_host_that_is_no_name_is_refused_like_one_that_is_down() -> None:
    events: list[Event] = []
    nowhere = Listener(node_id=1, upstream=Address("no..name", 9093))
    async with Proxy([nowhere], sinks=[events.append]) as proxy:
        address = proxy.addresses[nowhere]
        reader, writer = await asyncio.open_connection(address.host, address.port)
        assert await reader.read() == b""
        writer.close()
        await eventually(lambda: not proxy.connections)
    assert kinds(events) == [NoticeKind.REFUSED]


async def test_bad_input_on_other_connections_does_not_touch_a_good_one() -> None:
    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.read(len(VOTE))
        while first == VOTE:
            writer.write(GRANTED)
            first = await reader.read(len(VOTE))
        writer.close()

    async with proxied(swallow, []) as (address, proxy):
        good_reader, good_writer = await asyncio.open_connection(address.host, address.port)
        for data, _ in FAULTS.values():
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(data)
            assert await reader.read() == b""
            writer.close()
            good_writer.write(VOTE)
            assert await good_reader.readexactly(len(GRANTED)) == GRANTED
        assert [connection.number for connection in proxy.connections].count(1) == 1
        good_writer.close()


class Slow:
    """A client's transport, with bytes that its peer has not read."""

    def __init__(self, unsent: int) -> None:
        self.unsent = unsent
        self.closing = self.aborted = False

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        """Begin to close, which waits for the peer."""
        self.closing = True

    def abort(self) -> None:
        self.aborted = True


def test_a_slow_reader_has_time_for_the_rest_as_long_as_it_reads() -> None:
    dialogue = Dialogue()
    relay = Relay(
        dialogue.connection,
        Upstream((Address("127.0.0.1", 9093),), timeout=10.0, dials=(Dials(),)),
        dialogue.pairing,
        Framing(dialogue.wants, dialogue.copies),
        FilterStage,
        limits=Limits(drain=1.0),
        sink=dialogue.events.append,
        reached=lambda: None,
        gone=lambda relay: None,
    )
    slow = Slow(unsent=3)
    relay.client.transport = cast(asyncio.Transport, slow)
    relay.node.connection_lost(None)
    begin = relay.opened
    for second, unsent in enumerate((3, 2, 1, 1)):
        slow.unsent = unsent
        relay.check(begin + second * 0.9)
        assert not slow.aborted
    relay.check(begin + 10)
    assert slow.aborted


async def test_a_slow_reader_holds_the_node_back_and_gets_every_byte() -> None:
    size = 64 * 1024 * 1024
    sent = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        chunk = bytes(64 * 1024)
        while sent < size:
            writer.write(chunk)
            sent += len(chunk)
            await writer.drain()
        writer.close()

    async with proxied(pour, []) as (address, _):
        reader, writer = await asyncio.open_connection(address.host, address.port, limit=64 * 1024)
        previous = -1
        while sent != previous:  # until the node cannot get rid of more
            previous = sent
            await asyncio.sleep(0.2)
        assert sent < size / 2
        received = 0
        while chunk := await reader.read(1 << 16):
            received += len(chunk)
        assert received == size
        writer.close()


async def test_a_frame_that_does_not_go_on_is_cut_and_told() -> None:
    events: list[Event] = []
    limits = Limits(progress=0.2)
    async with proxied(grant, events, limits) as (address, proxy):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(VOTE[:9])
        assert await reader.read() == b""
        writer.close()
        await eventually(lambda: not proxy.connections)
    assert NoticeKind.TIMED_OUT in kinds(events)
    assert "the client began a frame" in str(events)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(first_frame=0.2), "no request in 0.2 s"),
        (Limits(idle=0.2), "not a byte in 0.2 s"),
    ],
)
async def test_a_silent_client_is_cut_and_told(limits: Limits, said: str) -> None:
    events: list[Event] = []
    async with proxied(grant, events, limits) as (address, proxy):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        assert await reader.read() == b""
        writer.close()
        await eventually(lambda: not proxy.connections)
    assert said in str(events)


@in_virtual_time
async def test_a_connection_at_rest_between_frames_is_left_alone() -> None:
    events: list[Event] = []
    limits = Limits(progress=0.3, first_frame=1.0)
    async with proxied(grant, events, limits) as (address, _):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        for _ in range(3):
            writer.write(VOTE)
            assert await reader.readexactly(len(GRANTED)) == GRANTED
            await asyncio.sleep(0.5)
        writer.close()
    assert NoticeKind.TIMED_OUT not in kinds(events)


async def test_a_listener_can_be_added_while_the_proxy_runs() -> None:
    async with node(grant) as upstream, Proxy() as proxy:
        address = await proxy.listen(Listener(node_id=3001, upstream=upstream))
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(VOTE)
        assert await reader.readexactly(len(GRANTED)) == GRANTED
        assert [connection.node_id for connection in proxy.connections] == [3001]
        writer.close()


async def test_an_address_that_is_taken_is_a_clear_error() -> None:
    async with node(grant) as upstream:
        listener = Listener(node_id=1, upstream=upstream, listen=upstream)
        with pytest.raises(CannotListen, match=f"cannot listen at {upstream}"):
            async with Proxy([listener]):
                pass


async def test_a_sink_that_fails_does_not_touch_the_traffic(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(event: Event) -> None:
        raise RuntimeError("a mistake in a sink")

    events: list[Event] = []
    async with proxied(grant, events) as (address, proxy):
        proxy.add_sink(broken)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        for _ in range(3):
            writer.write(VOTE)
            assert await reader.readexactly(len(GRANTED)) == GRANTED
        writer.close()
        await eventually(lambda: not proxy.connections)
    assert len(flows(events)) == 3
    assert caplog.text.count("a sink failed and gets no more events") == 1


async def test_a_connection_that_cannot_be_checked_leaves_the_others_their_limits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check, refused = Relay.check, []

    def broken(relay: Relay, now: float) -> None:
        if relay.connection.number == 1:
            refused.append(now)
            raise RuntimeError("a mistake in the check of one connection")
        check(relay, now)

    monkeypatch.setattr(Relay, "check", broken)
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    events: list[Event] = []
    async with proxied(grant, events, Limits(first_frame=0.2)) as (address, proxy):
        first = await asyncio.open_connection(address.host, address.port)
        await eventually(lambda: len(refused) >= 2)
        second = await asyncio.open_connection(address.host, address.port)
        assert await asyncio.wait_for(second[0].read(), 60) == b""
        assert [connection.number for connection in proxy.connections] == [1]
        for _, writer in (first, second):
            writer.close()


async def test_closing_the_proxy_cuts_what_is_open_and_ends_its_flows() -> None:
    asked = asyncio.Event()

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(VOTE))
        asked.set()
        await reader.read()

    events: list[Event] = []
    async with proxied(never, events) as (address, proxy):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(VOTE)
        await asked.wait()
        await proxy.close()
        assert await reader.read() == b""
        writer.close()
    assert [flow.problems for flow in flows(events)] == [["the connection ended: the proxy stops"]]
