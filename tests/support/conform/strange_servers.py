"""Servers that are none of Kafka's: other protocols, broken frames, silence, and half of it."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from random import Random

from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsResponse
from kwire.messages.index import APIS
from kwire.net.accepting import stop_accepting

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Reply = Callable[[bytes], bytes]
"""Returns the bytes that answer a frame, which comes without its size."""

API_VERSIONS = 18
NOISE = Random(34).randbytes(4096)


def framed(data: bytes) -> bytes:
    """Return data behind its size."""
    return struct.pack(">i", len(data)) + data


def api_versions(frame: bytes, *keys: int, error: int = 0, highest: int = 0) -> bytes:
    """Return an answer to ApiVersions v0. highest: the last version of each API."""
    offered = [ApiVersion(api_key=key, max_version=highest) for key in keys]
    return frame[4:8] + ApiVersionsResponse(error_code=error, api_keys=offered).encode(0)


def says(data: bytes, *, pause: float | None = None) -> Serve:
    """Return a server that sends bytes and ends. pause: seconds between two of them."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for part in [data] if pause is None else [bytes([byte]) for byte in data]:
            writer.write(part)
            await asyncio.sleep(pause or 0)

    return serve


def answers(reply: Reply) -> Serve:
    """Return a server that answers each frame with bytes, and ends at the first empty answer."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            (size,) = struct.unpack(">i", await reader.readexactly(4))
            data = reply(await reader.readexactly(max(0, min(size, 1 << 20))))
            if not data:
                return
            writer.write(data)

    return serve


def behind_api_versions(reply: Reply) -> Serve:
    """Return a server that answers ApiVersions v0 as Kafka does, and all else with bytes."""

    def either(frame: bytes) -> bytes:
        if frame[:4] == struct.pack(">hh", API_VERSIONS, 0):
            return framed(api_versions(frame, *sorted(APIS)))
        return reply(frame)

    return answers(either)


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take everything, and say nothing."""
    while await reader.read(4096):
        pass


async def resets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Cut the connection off."""
    writer.transport.abort()


async def floods(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send frames that nobody asked for, without an end."""
    while True:
        writer.write(framed(bytes(64)) * 64)
        await writer.drain()


STRANGE: dict[str, Serve] = {
    "HTTP": says(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
    "HTTP/2": says(b"\0\0\x12\4\0\0\0\0\0" + bytes(18)),
    "an alert of TLS": says(b"\x15\3\3\0\2\2\x50"),
    "a handshake of TLS": says(b"\x16\3\3\0\x7a\2\0\0\x76\3\3" + NOISE[:117]),
    "SSH": says(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "SMTP": says(b"220 mail.example.org ESMTP\r\n"),
    "Redis": says(b"-ERR unknown command\r\n"),
    "PostgreSQL": says(b"E\0\0\0\x62SFATAL\0VFATAL\0C08P01\0"),
    "MySQL": says(b"\x4a\0\0\0\x0a8.0.36\0" + NOISE[:60]),
    "noise": says(NOISE),
    "an escape sequence": says(b"\x1b[2J\x1b]0;title\x07" * 8),
    "nothing": silent,
    "an end at once": says(b""),
    "a reset at once": resets,
    "an end after the request": answers(lambda frame: b""),
    "a byte at a time, without an end": says(framed(bytes(100_000)), pause=0.05),
    "frames that nobody asked for": floods,
    "an echo": answers(framed),
    "a size of 0": answers(lambda frame: framed(b"")),
    "a size of -1": answers(lambda frame: b"\xff\xff\xff\xff"),
    "a size of 2 GiB": answers(lambda frame: b"\x7f\xff\xff\xff" + NOISE),
    "a size of 2 GiB of zeros": answers(lambda frame: b"\x7f\xff\xff\xff" + bytes(1 << 20)),
    "half a size": says(b"\0\0"),
    "half a frame": says(framed(bytes(64))[:32]),
    "another correlation id": answers(lambda frame: framed(bytes(3) + b"\7" + bytes(6))),
    "a correlation id alone": answers(lambda frame: framed(frame[4:8])),
    "a body that ends early": answers(lambda frame: framed(api_versions(frame, 3, 18)[:-3])),
    "bytes left over": answers(lambda frame: framed(api_versions(frame, 3, 18) + b"\0")),
    "each answer twice": answers(lambda frame: framed(api_versions(frame, 3, 18)) * 2),
    "an array of 2^30": answers(lambda frame: framed(frame[4:8] + b"\0\0\x40\0\0\0")),
    "a null array": answers(lambda frame: framed(frame[4:8] + b"\0\0\xff\xff\xff\xff")),
    "no API": answers(lambda frame: framed(api_versions(frame))),
    "an error for ApiVersions": answers(lambda frame: framed(api_versions(frame, error=35))),
    "versions below 0": answers(lambda frame: framed(api_versions(frame, 3, 18, highest=-1))),
    "ApiVersions, then silence": behind_api_versions(lambda frame: framed(bytes(4))[:2]),
    "ApiVersions, then an end": behind_api_versions(lambda frame: b""),
    "ApiVersions, then noise": behind_api_versions(lambda frame: framed(frame[4:8] + NOISE)),
    "ApiVersions, then zeros": behind_api_versions(lambda frame: framed(frame[4:8] + bytes(64))),
}
"""Strange servers by what they send."""


@asynccontextmanager
async def strange(serve: Serve) -> AsyncIterator[str]:
    """Yield the address of a strange server."""

    serving: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await serve(reader, writer)
                await writer.drain()
        finally:
            serving.discard(task)
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await stop_accepting(server)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving)
