"""The end of a listening socket, without a connection that is left half made."""

from __future__ import annotations

import asyncio
from contextlib import suppress


async def stop_accepting(*servers: asyncio.Server) -> None:
    """Close servers; every connection that was taken has told its protocol by then.

    Closed in the moment in which it takes a connection, Python 3.11's Server makes the protocol and
    then fails: the protocol never hears of a connection, nor of its end, and the socket leaks.
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
    """Let asyncio tell protocols of connections it has taken, and close those that were aborted."""
    for _ in range(4):
        await asyncio.sleep(0)
