"""The request frames of one connection, within limits of time and of memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kwire.controller.server import large_messages
from kwire.controller.server.client_session import ClientSession
from kwire.controller.server.request_memory import MemoryPool, RequestMemory
from kwire.errors import KwireError
from kwire.net.frames import FrameSplitter

CHUNK = 64 * 1024

PROGRESS = 30.0
"""Seconds for a frame that has begun to come whole, and one more for each SLOWEST bytes; Kafka
waits for ever."""

SLOWEST = 256 * 1024


class TooSlow(KwireError):
    """A client has not sent in time what is needed to go on."""


class FrameReader:
    """Reads one frame after the other.

    idle: seconds without a request after which there are no more (connections.max.idle.ms).
    """

    def __init__(
        self,
        stream: asyncio.StreamReader,
        session: ClientSession,
        memory: RequestMemory,
        *,
        idle: float,
    ) -> None:
        self._stream = stream
        self._session = session
        self._memory = memory
        self._idle = idle
        self._frames: deque[bytes | list[bytes]] = deque()
        self._splitter = FrameSplitter(session.frame_limit, pieces=self._frames.append)
        self._reserved: tuple[MemoryPool, int] | None = None
        self._begun: float | None = None

    @asynccontextmanager
    async def frame(self) -> AsyncIterator[bytes | None]:
        """Yield the next frame, without its size; None if no more will come.

        A large frame has bytes of the memory from the moment in which its size is known until the
        block ends; until there are any, nothing more is read. Raises FrameError for a size out of
        bounds, TooSlow if a frame or a login does not come to its end in time.
        """
        try:
            yield await self._frame_of_login()
        finally:
            if self._reserved is not None:
                pool, size = self._reserved
                self._reserved = None
                pool.give_back(size)

    async def _frame_of_login(self) -> bytes | None:
        """Return the next frame; raise TooSlow if a login takes too long."""
        try:
            async with asyncio.timeout_at(self._session.deadline):
                return await self._next()
        except TimeoutError:
            raise TooSlow("it has not logged in, or asked anything, in time") from None

    async def _next(self) -> bytes | None:
        self._splitter.limit = self._session.frame_limit
        while not self._frames:
            await self._reserve(self._splitter.begun)
            chunk = await self._chunk()
            if not chunk:
                return None
            self._splitter.feed(chunk, self._frames.append)
        self._begun = None
        frame = self._frames.popleft()
        if isinstance(frame, bytes):
            await self._reserve(len(frame))
        return await large_messages.joined(frame)

    async def _reserve(self, size: int) -> None:
        """Take memory for a frame, once; a small one is in the buffer of its connection anyway."""
        if size < large_messages.LARGE_FRAME or self._reserved is not None:
            return
        memory = self._memory
        pool = memory.queued if self._session.is_open else memory.before_login
        await pool.take(size)
        self._reserved = pool, size
        self._begun = None  # its time begins now

    async def _chunk(self) -> bytes:
        """Return bytes that came; none at the end, or if the client is idle for too long."""
        pending, now = self._splitter.pending, asyncio.get_running_loop().time()
        if not pending:
            deadline = now + self._idle
        else:
            self._begun = self._begun or now
            deadline = self._begun + PROGRESS + self._splitter.begun / SLOWEST
        try:
            async with asyncio.timeout_at(deadline):
                return await self._stream.read(CHUNK)
        except TimeoutError:
            if not pending:
                return b""
            raise TooSlow(f"{pending} bytes of a frame came in time, and not its end") from None
