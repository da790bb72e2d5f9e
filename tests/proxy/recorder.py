"""A relay of asyncio's streams that remembers what crossed it: the judge of the proxy's bytes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256

from proxy import Address


@dataclass
class Recorder:
    """address: where it listens. streams: of each connection, both directions' length and hash."""

    address: Address
    streams: list[tuple[int, str, int, str]] = field(default_factory=list)

    async def relay(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upstream: Address
    ) -> None:
        """Carry one connection to its end."""
        far_reader, far_writer = await asyncio.open_connection(upstream.host, upstream.port)
        asked, answered = await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        self.streams.append((*asked, *answered))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[int, str]:
    length, digest = 0, sha256()
    try:
        while chunk := await reader.read(1 << 16):
            length += len(chunk)
            digest.update(chunk)
            writer.write(chunk)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()
    return length, digest.hexdigest()


@asynccontextmanager
async def recording(upstream: Address, listen: Address) -> AsyncIterator[Recorder]:
    """A recorder in front of an address."""
    recorder = Recorder(listen)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(recorder.relay(reader, writer, upstream))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, listen.host, listen.port)
    recorder.address = Address(*server.sockets[0].getsockname())
    try:
        yield recorder
    finally:
        server.close()
        await server.wait_closed()
        while tasks:
            await asyncio.wait(set(tasks), timeout=10)
