"""A relay of asyncio's streams that remembers what crossed it: the judge of the proxy's bytes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from kwire.net.accepting import stop_accepting
from kwire.proxy import Address


@dataclass
class Recorder:
    """address: where it listens. streams: what was asked and answered on each connection."""

    address: Address
    streams: list[tuple[bytes, bytes]] = field(default_factory=list)

    async def relay(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upstream: Address
    ) -> None:
        """Carry one connection to its end; where nobody is there, it ends at once."""
        try:
            far_reader, far_writer = await asyncio.open_connection(upstream.host, upstream.port)
        except OSError:
            writer.close()
            return
        asked, answered = await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        self.streams.append((asked, answered))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    crossed = bytearray()
    try:
        while chunk := await reader.read(1 << 16):
            crossed += chunk
            writer.write(chunk)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()
    return bytes(crossed)


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
        await stop_accepting(server)
        await server.wait_closed()
        while tasks:
            await asyncio.wait(set(tasks), timeout=10)
