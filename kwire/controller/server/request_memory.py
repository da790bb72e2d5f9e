"""The memory that the requests of all connections may take together; others wait for it.

Kafka has queued.max.request.bytes for the bytes that arrive (Java: SimpleMemoryPool), and nothing
for what they become when they are decoded.
"""

from __future__ import annotations

import asyncio
from collections import deque

DECODED_FACTOR = 54
"""Bytes of a decoded request for each byte of its frame, at most: 53.3 were measured for
AlterClientQuotas v1 with empty entries, 15 for CreateTopics."""

QUEUED_DEFAULT = 256 << 20
"""Bytes of frames that are read and not answered, if queued.max.request.bytes does not say."""

DECODED = 512 << 20
"""Bytes of decoded requests."""

BEFORE_LOGIN = 16 << 20
"""Bytes of frames from clients that have not logged in: these cannot use up the others' room."""


class MemoryPool:
    """A number of bytes.

    A request of any size gets its bytes as soon as some are left and nobody waits before it, so
    that the pool is exceeded by one request at most, as in Kafka.
    """

    def __init__(self, size: int) -> None:
        self.size = self.available = size
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def waiting(self) -> int:
        """The number of requests that wait."""
        return len(self._waiting)

    async def take(self, size: int) -> None:
        """Wait until the bytes are there, and take them."""
        if self.available > 0 and not self._waiting:
            self.available -= size
            return
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (size, granted)
        self._waiting.append(entry)
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self.give_back(size)
            else:
                self._waiting.remove(entry)
            raise

    def give_back(self, size: int) -> None:
        """Return bytes, and give them to those that wait, the first one first."""
        self.available += size
        while self._waiting and self.available > 0:
            wanted, granted = self._waiting.popleft()
            self.available -= wanted
            granted.set_result(None)


class RequestMemory:
    """The pools of one node. queued: bytes of frames, queued.max.request.bytes.

    A request holds bytes of `queued` while it waits for some of `decoded`, never the other way
    round: so no two requests wait for each other.
    """

    def __init__(self, queued: int = QUEUED_DEFAULT) -> None:
        self.before_login = MemoryPool(BEFORE_LOGIN)
        self.queued = MemoryPool(queued)
        self.decoded = MemoryPool(DECODED)
