"""The order of writes: one after the other, as in the event queue of Java's QuorumController."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kwire.codec.declaration import Request
from kwire.controller.handlers.registry import HANDLERS
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest

HEARTBEAT_MS = 1000
"""The longest wait of a heartbeat for its turn: half of broker.heartbeat.interval.ms (Java)."""

LEAST_MS = 1000
"""The shortest time-out that counts.

Java answers a request whose turn has come, whatever its time-out above 0: a shorter bound for turn
and commit together would refuse requests that Java carries out.
"""


class WriteQueue:
    """A turn for each write, in the order in which they came."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    @property
    def is_busy(self) -> bool:
        """True while a write has its turn."""
        return self._lock.locked()

    @asynccontextmanager
    async def turn(self, limit_ms: int | None = None) -> AsyncIterator[None]:
        """Wait for the turn, and hold it for the block.

        Raises REQUEST_TIMED_OUT if it has not come after `limit_ms`; None waits for as long as it
        takes. A write that has its turn is not interrupted by this limit.
        """
        # asyncio.Lock wakes its waiters in the order in which they came.
        async with time_limit(limit_ms):
            await self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()


@asynccontextmanager
async def time_limit(limit_ms: int | None) -> AsyncIterator[None]:
    """Interrupt the block after `limit_ms` and raise REQUEST_TIMED_OUT; None for no limit."""
    try:
        async with asyncio.timeout(None if limit_ms is None else limit_ms / 1000):
            yield
    except TimeoutError:
        text = (
            f"The request was not answered within {limit_ms} ms: look whether it was carried out"
            " before it is sent again."
        )
        raise ApiError(ErrorCode.REQUEST_TIMED_OUT, text) from None


def answer_limit_ms(request: Request) -> int | None:
    """Return how long a request may take until its answer; None for no limit.

    Requests with a limit are those to which Java's ControllerApis gives a deadline. In Java it ends
    when the request's turn comes; here it bounds the wait for the commit, too. A leader whose
    followers fetch but flush slowly stays in office without a commit, and kept writes waiting two
    seconds beyond their time-outs (docs/decisions/0027).
    """
    limit_ms = HANDLERS[type(request).key or 0].limit_ms(request)
    return None if limit_ms is None else max(limit_ms, LEAST_MS)


def turn_limit_ms(request: Request) -> int | None:
    """Return how long a request waits for its turn; None for no limit."""
    return HEARTBEAT_MS if isinstance(request, BrokerHeartbeatRequest) else None
