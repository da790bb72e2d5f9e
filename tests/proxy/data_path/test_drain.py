"""A proxy that drains answers what was asked, takes nothing new, and waits for nobody for ever."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from kwire.proxy import Address, Event, Listener, Outcome, Proxy
from tests.support.eventually import eventually
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE, flows, grant, node
from tests.support.virtual_time import in_virtual_time

pytestmark = pytest.mark.usefixtures("each_loop")


class SlowNode:
    """Answers each Vote when it is told to. asked: how many have come."""

    def __init__(self) -> None:
        self.asked = 0
        self.ready = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readexactly(len(VOTE)):
                self.asked += 1
                await self.ready.wait()
                writer.write(GRANTED)
        writer.close()


@asynccontextmanager
async def slow(events: list[Event]) -> AsyncIterator[tuple[SlowNode, Address, Proxy]]:
    behind = SlowNode()
    async with node(behind.serve) as upstream:
        listener = Listener(node_id=1, upstream=upstream)
        async with Proxy([listener], sinks=[events.append]) as proxy:
            yield behind, proxy.addresses[listener], proxy
            behind.ready.set()


async def test_what_is_under_way_is_answered_and_then_all_are_closed() -> None:
    events: list[Event] = []
    async with slow(events) as (behind, address, proxy):
        idle, idle_writer = await asyncio.open_connection(address.host, address.port)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(VOTE)
        await eventually(lambda: behind.asked == 1)
        draining = asyncio.create_task(proxy.drain(60))
        assert await idle.read() == b""
        with pytest.raises(OSError, match=r"."):
            await asyncio.open_connection(address.host, address.port)
        writer.write(VOTE)
        behind.ready.set()
        assert await reader.read() == GRANTED
        await draining
        assert proxy.connections == ()
        assert behind.asked == 1
        idle_writer.close()
        writer.close()
    assert [flow.outcome for flow in flows(events)] == [Outcome.ANSWERED]


@in_virtual_time
async def test_a_request_that_has_begun_may_end() -> None:
    begun = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(9)
        begun.set()
        await reader.readexactly(len(VOTE) - 9)
        writer.write(GRANTED)
        assert await reader.read() == b""
        writer.close()

    async with node(serve) as upstream:
        listener = Listener(node_id=1, upstream=upstream)
        async with Proxy([listener]) as proxy:
            address = proxy.addresses[listener]
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(VOTE[:9])
            await begun.wait()
            draining = asyncio.create_task(proxy.drain(60))
            await asyncio.sleep(0.2)  # it looks several times meanwhile, and closes nothing
            writer.write(VOTE[9:])
            assert await reader.read() == GRANTED
            await draining
            writer.close()


@in_virtual_time
async def test_what_cannot_be_read_ends_by_itself() -> None:
    """TLS that passes, for one: nobody can see if a node is still to answer."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data)
        writer.close()

    async with node(echo) as upstream:
        listener = Listener(node_id=1, upstream=upstream)
        async with Proxy([listener]) as proxy:
            address = proxy.addresses[listener]
            reader, writer = await asyncio.open_connection(address.host, address.port)
            hello = b"\x16\x03\x01\x02\x00\x01\x00"
            writer.write(hello)
            assert await reader.readexactly(len(hello)) == hello
            draining = asyncio.create_task(proxy.drain(60))
            await asyncio.sleep(0.2)  # it looks several times meanwhile
            writer.write(b"more")
            assert await reader.readexactly(4) == b"more"
            writer.close()
            await draining
            assert proxy.connections == ()


async def test_what_takes_too_long_is_cut() -> None:
    events: list[Event] = []
    async with slow(events) as (behind, address, proxy):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(VOTE)
        await eventually(lambda: behind.asked == 1)
        await proxy.drain(0)
        with suppress(ConnectionError):
            assert await reader.read() == b""
        assert proxy.connections == ()
        writer.close()
    assert "took too long" in flows(events)[0].problems[0]


@in_virtual_time
async def test_a_listener_goes_and_the_connections_of_others_stay() -> None:
    async with node(grant) as upstream, Proxy() as proxy:
        going, staying = (Listener(node_id=number, upstream=upstream) for number in (1, 2))
        talks = []
        for listener in (going, staying):
            address = await proxy.listen(listener)
            talks.append(await asyncio.open_connection(address.host, address.port))
        for reader, writer in talks:
            writer.write(VOTE)
            assert await reader.readexactly(len(GRANTED)) == GRANTED
        await proxy.unlisten(going)
        await proxy.drain(60, going)
        assert await talks[0][0].read() == b""
        assert list(proxy.addresses) == [staying]
        reader, writer = talks[1]
        writer.write(VOTE)
        assert await reader.readexactly(len(GRANTED)) == GRANTED
        for _, writer in talks:
            writer.close()


@in_virtual_time
async def test_a_listener_that_comes_back_keeps_its_new_connections() -> None:
    events: list[Event] = []
    async with slow(events) as (behind, address, proxy):
        (listener,) = proxy.addresses
        old, old_writer = await asyncio.open_connection(address.host, address.port)
        old_writer.write(VOTE)
        await eventually(lambda: behind.asked == 1)
        await proxy.unlisten(listener)
        draining = asyncio.create_task(proxy.drain(60, listener))
        await asyncio.sleep(0)
        address = await proxy.listen(listener)
        new, new_writer = await asyncio.open_connection(address.host, address.port)
        behind.ready.set()
        await draining
        assert await old.read() == GRANTED
        new_writer.write(VOTE)
        assert await new.readexactly(len(GRANTED)) == GRANTED
        old_writer.close()
        new_writer.close()
