"""Faults on a connection, on the disk or behind the proxy touch no other connection."""

import asyncio
import os
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from kwire.capture import CaptureFiles
from kwire.errors import ConnectionFailed
from kwire.messages.a52_vote import VoteRequest
from kwire.net.connection import Connection
from kwire.proxy import (
    Address,
    Call,
    Event,
    Filter,
    Filters,
    Limits,
    Listener,
    NoticeKind,
    Proxy,
    Sink,
    Tap,
)
from kwire.proxy.capture.recorder import Recorder
from kwire.proxy.service.metrics import Metrics
from tests.support.eventually import eventually
from tests.support.proxy.data_path.faulty_requests import FAULTS
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE, grant, kinds, node
from tests.support.virtual_time import in_virtual_time

pytestmark = pytest.mark.usefixtures("each_loop")

CONNECTIONS = int(os.environ.get("KWIRE_CONNECTIONS", "2000"))
"""How many come and go; 10,000 are what the proxy promises."""

AT_ONCE = 40


class Reader(Filter):
    """Wants every Vote, so that the frames are held and decoded."""

    def on_vote_request(self, request: VoteRequest, call: Call) -> None:
        call.note(f"voter {request.voter_id}")


@asynccontextmanager
async def talking(address: Address) -> AsyncIterator[AsyncExitStack]:
    """Open a good connection, and return a function that asks on it."""
    reader, writer = await asyncio.open_connection(address.host, address.port)

    async def ask() -> None:
        writer.write(VOTE)
        assert await reader.readexactly(len(GRANTED)) == GRANTED

    async with AsyncExitStack() as stack:
        stack.callback(writer.close)
        await ask()
        yield stack
        await ask()


async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer Votes, and otherwise only read: the proxy alone must end things."""
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        while await reader.readexactly(len(VOTE)) == VOTE:
            writer.write(GRANTED)
        await reader.read(-1)
    writer.close()


async def garble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer Votes on the first connection, and with a fault on each other one."""
    first = await reader.read(len(VOTE))
    if first == VOTE:
        writer.write(GRANTED)
        await grant(reader, writer)
        return
    writer.write(FAULTS[list(FAULTS)[int(first) % len(FAULTS)]][0])
    await reader.read(-1)
    writer.close()


@pytest.mark.parametrize("filtered", [False, True], ids=["passed", "held"])
async def test_all_faults_at_once_touch_no_other_connection(filtered: bool, tmp_path: Path) -> None:
    """Copied, recorded, counted and filtered: nothing of it stays when they are gone."""
    metrics = Metrics()
    tap = Tap(metrics.see)
    filters = Filters([Reader()]) if filtered else None
    limits = Limits(progress=3.0, first_frame=3.0)
    with Recorder(CaptureFiles.single(tmp_path / "all.avro")) as recorder:
        async with node(keep) as upstream, tap:
            listener = Listener(node_id=1, upstream=upstream)
            sinks: list[Sink] = [metrics, tap, recorder]
            async with Proxy([listener], sinks=sinks, limits=limits, filters=filters) as proxy:
                address = proxy.addresses[listener]
                async with talking(address) as stack:
                    for data, _ in FAULTS.values():
                        _, writer = await asyncio.open_connection(address.host, address.port)
                        stack.callback(writer.close)
                        writer.write(data)
                    async with talking(address):
                        assert len(proxy.connections) > 2
                await eventually(lambda: not proxy.connections)
                assert proxy.copies.held == proxy.held.held == 0
    assert not recorder.failure


async def test_faults_of_a_node_reach_their_client_alone() -> None:
    events: list[Event] = []
    async with node(garble) as upstream:
        listener = Listener(node_id=1, upstream=upstream)
        async with Proxy([listener], sinks=[events.append]) as proxy:
            address = proxy.addresses[listener]
            async with talking(address):
                for number, (data, _) in enumerate(FAULTS.values()):
                    reader, writer = await asyncio.open_connection(address.host, address.port)
                    writer.write(str(number).encode())
                    assert await reader.readexactly(len(data)) == data
                    writer.close()
            await eventually(lambda: not proxy.connections)
            assert proxy.copies.held == 0


@in_virtual_time
async def test_a_byte_now_and_then_does_not_keep_a_frame_alive() -> None:
    events: list[Event] = []
    async with node(keep) as upstream:
        listener = Listener(node_id=1, upstream=upstream)
        limits = Limits(progress=0.5)
        async with Proxy([listener], sinks=[events.append], limits=limits) as proxy:
            address = proxy.addresses[listener]
            async with talking(address):
                reader, writer = await asyncio.open_connection(address.host, address.port)
                writer.write((1000).to_bytes(4, "big") + bytes(10))
                gone = asyncio.create_task(reader.read())
                while not gone.done():
                    writer.write(b"\0")
                    await asyncio.sleep(0.02)
                with suppress(ConnectionError):
                    assert await gone == b""
                writer.close()
    assert "the client began a frame and sent no more for 0.5 s" in str(events)


@in_virtual_time
async def test_half_an_answer_of_a_node_is_cut_off() -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(VOTE))
        writer.write(GRANTED[:-1])
        await reader.read(-1)
        writer.close()

    events: list[Event] = []
    async with node(half) as upstream:
        listener = Listener(node_id=7, upstream=upstream)
        limits = Limits(progress=0.3)
        async with Proxy([listener], sinks=[events.append], limits=limits) as proxy:
            address = proxy.addresses[listener]
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(VOTE)
            with suppress(ConnectionError):
                assert await reader.read() == GRANTED[:-1]
            writer.close()
            await eventually(lambda: not proxy.connections)
    assert "node 7 began a frame and sent no more" in str(events)


async def test_a_node_that_does_not_accept_is_given_up() -> None:
    events: list[Event] = []
    with socket.socket() as deaf, _crowd(deaf):
        listener = Listener(node_id=1, upstream=Address(*deaf.getsockname()))
        limits = Limits(connect=0.3)
        async with Proxy([listener], sinks=[events.append], limits=limits) as proxy:
            address = proxy.addresses[listener]
            reader, writer = await asyncio.open_connection(address.host, address.port)
            assert await reader.read() == b""
            writer.close()
            await eventually(lambda: not proxy.connections)
    assert kinds(events) == [NoticeKind.REFUSED]
    assert "no answer in time" in str(events)


@contextmanager
def _crowd(deaf: socket.socket) -> Iterator[None]:
    """So many connections wait to be accepted that the system takes no more."""
    deaf.bind(("127.0.0.1", 0))
    deaf.listen(0)
    waiting = [socket.socket() for _ in range(4)]
    for one in waiting:
        one.setblocking(False)
        one.connect_ex(deaf.getsockname())
    yield
    for one in waiting:
        one.close()


async def test_a_client_takes_a_node_that_is_down_for_down() -> None:
    """The client fails as at the dead node itself, and can look for another."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        dead = Listener(node_id=1, upstream=Address(*unused.getsockname()))
        async with Proxy([dead]) as proxy:
            for address in (dead.upstream, proxy.addresses[dead]):
                with pytest.raises(ConnectionFailed):
                    await Connection.open(address.host, address.port)
                reader = None
                with suppress(ConnectionRefusedError):
                    reader, writer = await asyncio.open_connection(address.host, address.port)
                    writer.close()
                assert reader is None or await reader.read() == b""


async def test_a_full_disk_stops_the_recording_and_not_the_traffic(tmp_path: Path) -> None:
    said: list[str] = []
    with (
        _room(64 * 1024),
        Recorder(CaptureFiles.single(tmp_path / "full.avro"), stopped=said.append) as recorder,
    ):
        async with node(grant) as upstream:
            listener = Listener(node_id=1, upstream=upstream)
            async with Proxy([listener], sinks=[recorder]) as proxy:
                address = proxy.addresses[listener]
                reader, writer = await asyncio.open_connection(address.host, address.port)
                async with asyncio.timeout(60):
                    while not said:
                        for _ in range(200):
                            writer.write(VOTE)
                            assert await reader.readexactly(len(GRANTED)) == GRANTED
                writer.write(VOTE)
                assert await reader.readexactly(len(GRANTED)) == GRANTED
                writer.close()
    assert len(said) == 1
    assert "stopped: File too large; traffic goes on" in said[0]


@contextmanager
def _room(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond this."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_connections_that_come_and_go_leave_no_task_and_no_descriptor() -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    async def come_and_go(number: int) -> None:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        if number % 3:
            writer.write(VOTE)
            await reader.readexactly(len(GRANTED) if number % 3 == 1 else 3)
        if number % 2:
            writer.transport.abort()
        writer.close()

    async with node(grant) as upstream:
        listener = Listener(node_id=1, upstream=upstream)
        async with Proxy([listener], sinks=[Metrics()]) as proxy:
            address = proxy.addresses[listener]
            # The loop in C has descriptors of its own, from the first connection on that it moves.
            await asyncio.gather(*(come_and_go(one) for one in range(AT_ONCE)))
            await eventually(lambda: not proxy.connections)
            before = descriptors()
            tasks = len(asyncio.all_tasks())
            for start in range(0, CONNECTIONS, AT_ONCE):
                await asyncio.gather(*(come_and_go(start + one) for one in range(AT_ONCE)))
            await eventually(lambda: not proxy.connections)
            await eventually(lambda: descriptors() <= before and len(asyncio.all_tasks()) <= tasks)
