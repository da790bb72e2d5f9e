"""The time an operation may take, and the pauses between its attempts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from kwire.net.timeouts import Timeouts

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 1.0
"""Seconds: the defaults of Kafka's retry.backoff.ms and retry.backoff.max.ms."""

USEFUL = 0.05
"""Seconds that an attempt needs: one that has less only says that it came too late, and not why
those before it failed."""

_LEAST = 0.001


class Deadline:
    """The end of one operation, shared by all its attempts. Each may take `timeouts.request`."""

    __slots__ = ("_attempt", "_end", "_pauses", "_start")

    def __init__(self, timeouts: Timeouts) -> None:
        self._start = time.monotonic()
        self._end = self._start + timeouts.operation
        self._attempt = timeouts.request_seconds
        self._pauses = _growing_pauses()

    @property
    def remaining(self) -> float:
        """Seconds left, at least a millisecond: an attempt that starts too late then times out."""
        return max(self._end - time.monotonic(), _LEAST)

    @property
    def attempt(self) -> float:
        """Seconds for one attempt, which leave time for another one."""
        return min(self._attempt, self.remaining)

    @property
    def is_over(self) -> bool:
        """True if no time is left that an attempt could use."""
        return self.remaining <= _LEAST

    @property
    def elapsed(self) -> float:
        """Seconds since the operation began."""
        return time.monotonic() - self._start

    async def pause(self) -> bool:
        """Wait before the next attempt, longer each time; return False if time is too short.

        A busy machine may wake up late: the time is looked at before and after.
        """
        seconds = next(self._pauses)
        if seconds + USEFUL >= self.remaining:
            return False
        await asyncio.sleep(seconds)
        return self.remaining > USEFUL


def _growing_pauses() -> Iterator[float]:
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(pause * 2, LONGEST_PAUSE)
