"""Memory of the proxy for a reader slower than the node, and for an idle connection."""

from __future__ import annotations

import asyncio
import socket

from proxy_loads import API_VERSIONS, FETCH, answer_size, connect, small
from proxy_relays import Server, ours

GIGABYTE = 1_000_000_000
IDLE = 1000


def slow_reader(node: Server) -> tuple[int, int]:
    """Bytes that 1 GB took at most while its reader was always behind; and those allowed."""
    proxy = ours("pass", node.port)
    try:
        before = proxy.memory()
        frame = answer_size(1)
        frames = GIGABYTE // frame + 1
        with socket.create_connection(("127.0.0.1", proxy.port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
            client.sendall(FETCH * frames)  # all asked at once: the node never waits for the reader
            missing = frame * frames
            while missing:
                missing -= len(client.recv(min(64 * 1024, missing)))
        return proxy.memory("VmHWM") - before, 16_000_000
    finally:
        proxy.close()


def idle_connection(node: Server) -> float:
    """Bytes of a connection that has been used once and rests."""
    proxy = ours("pass", node.port)
    try:
        return asyncio.run(_idle(proxy))
    finally:
        proxy.close()


async def _idle(proxy: Server) -> float:
    first = await connect(small(10), proxy.port)  # what is loaded at the first use is not counted
    await asyncio.sleep(0.5)
    before = proxy.memory()
    rest = []
    for _ in range(IDLE):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(API_VERSIONS)
        await reader.readexactly(answer_size(18))
        rest.append(writer)
    held = proxy.memory() - before
    for client in first:
        assert client.transport is not None
        client.transport.abort()
    for writer in rest:
        writer.transport.abort()
    return held / IDLE
