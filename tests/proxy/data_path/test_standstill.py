"""A node whose process stands still inside a response, and then goes on, is killed, or stays so."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from kwire.net.address import Address
from kwire.proxy import Event, Filters, Limits, Listener, Notice, Outcome, Proxy
from tests.support.eventually import eventually
from tests.support.proxy.broken_connections import (
    ASKED,
    ENDLESS,
    GRANTED,
    PATHS,
    PATIENCE,
    Peer,
)
from tests.support.proxy.data_path.proxied_node import flows

pytestmark = pytest.mark.usefixtures("each_loop")

STOPPING = """
import os, signal, socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as told, \
     socket.create_server(("127.0.0.1", 0)) as server:
    told.sendall(b"%d\\n" % server.getsockname()[1])
    peer, _ = server.accept()
    data = bytes.fromhex(sys.argv[2])
    peer.recv(1 << 16)
    peer.sendall(data[:9])
    told.sendall(b"half\\n")
    os.kill(os.getpid(), signal.SIGSTOP)
    peer.sendall(data[9:])
    peer.recv(1 << 16)
"""


@asynccontextmanager
async def stopping() -> AsyncIterator[tuple[Process, Address, asyncio.StreamReader]]:
    """Run a node in a process of its own that stands still inside its first response."""
    came: asyncio.Queue[asyncio.StreamReader] = asyncio.Queue()
    writers: list[asyncio.StreamWriter] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await came.put(reader)

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", STOPPING, str(port), GRANTED[0].hex()
        )
        try:
            async with asyncio.timeout(PATIENCE):
                reader = await came.get()
                upstream = Address("127.0.0.1", int(await reader.readline()))
            yield process, upstream, reader
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            for writer in writers:
                writer.close()
                await writer.wait_closed()


def is_stopped(process: Process) -> bool:
    """True if a process stands still. One that is told to go on before does so afterwards."""
    how = os.WSTOPPED | os.WNOWAIT | os.WNOHANG
    return os.waitid(os.P_PID, process.pid, how) is not None


@pytest.mark.parametrize("path", ["tapped", "held"])
@pytest.mark.parametrize("then", ["goes on", "is killed", "stays"])
async def test_a_node_that_stands_still_inside_a_response(path: str, then: str) -> None:
    events: list[Event] = []
    way = PATHS[path]
    limits = Limits(progress=0.3) if then == "stays" else ENDLESS
    async with stopping() as (process, upstream, told):
        listener = Listener(node_id=3000, upstream=upstream)
        filters = Filters(way.filters())
        async with Proxy(
            [listener], sinks=[events.append], limits=limits, filters=filters
        ) as proxy:
            address = proxy.addresses[listener]
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(ASKED[0])
            async with asyncio.timeout(PATIENCE):
                assert await told.readline() == b"half\n"
            if then != "stays":  # the relay of one that stays so may be gone by now
                await eventually(lambda: is_stopped(process))
                await eventually(
                    lambda: any(relay.node._framer.passed == 9 for relay in proxy._relays)
                )
            if then == "goes on":
                process.send_signal(signal.SIGCONT)
                assert await reader.readexactly(len(GRANTED[0])) == GRANTED[0]
            else:
                if then == "is killed":
                    process.kill()
                async with asyncio.timeout(PATIENCE):
                    data = await Peer(reader, writer).rest()
                assert data == (b"" if way.holds else GRANTED[0][:9])
            writer.close()
            await eventually(lambda: not proxy.connections)
    (flow,) = flows(events)
    texts = [event.text for event in events if isinstance(event, Notice)]
    assert flow.outcome is (Outcome.ANSWERED if then == "goes on" else Outcome.LOST)
    if then == "is killed":
        assert any("node 3000 closed after 9 of" in text for text in texts)
    if then == "stays":
        slow = "did not send the whole of a frame that filters wait for in time"
        said = slow if way.holds else "began a frame and sent no more for 0.3 s"
        assert f"node 3000 {said}" in texts
