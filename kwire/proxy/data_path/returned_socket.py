"""A socket that comes back from the loop in C, until its side of the relay takes it."""

from __future__ import annotations

import asyncio
import socket
from typing import cast


class ReturnedSocket(asyncio.Protocol):
    """Keeps what comes, which should be nothing, since it is not read until its side has it.

    early: what came all the same; ended: True if the peer has ended since; lost: True if the socket
    is gone, with this error.
    """

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.early = b""
        self.ended = self.lost = False
        self.error: Exception | None = None

    @classmethod
    async def open(cls, descriptor: int) -> ReturnedSocket:
        """Give the event loop a descriptor, which is its own from then on."""
        back = cls()
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(lambda: back, socket.socket(fileno=descriptor))
        except OSError as error:
            back.lost, back.error = True, error
        if not back.lost and back.transport is not None:
            # Python 3.11.2 forgets the pause of a transport that has just been made.
            back.transport.resume_reading()
            back.transport.pause_reading()
        return back

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Read nothing yet."""
        self.transport = cast(asyncio.Transport, transport)
        self.transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        """Keep it."""
        self.early += data

    def eof_received(self) -> bool:
        """Keep the other direction open."""
        self.ended = True
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Keep the reason."""
        self.lost, self.error = True, exc
