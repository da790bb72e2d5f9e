"""The end of a listening socket, without a connection that is left half made."""

from __future__ import annotations

import asyncio
from contextlib import suppress


async def stop_accepting(*servers: asyncio.Server) -> None:
    """Close servers, once every connection they accepted has reached its protocol.

    If Python 3.11's Server is closed while it accepts a connection, it makes the protocol and then
    fails: connection_made and connection_lost are never called, and the socket leaks.
    """
    loop = asyncio.get_running_loop()
    for server in servers:
        for listening in server.sockets:
            with suppress(NotImplementedError):  # Windows' loop takes connections otherwise
                loop.remove_reader(listening.fileno())
    try:
        await run_pending_callbacks()
    finally:
        for server in servers:
            server.close()


async def run_pending_callbacks() -> None:
    """Let asyncio call the protocols of connections it accepted, and close the aborted ones."""
    for _ in range(4):
        await asyncio.sleep(0)
