"""A simulated operating-system process: its own clock, its own queue of callbacks and timers."""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from math import inf
from types import FrameType
from typing import Any

Profile = Callable[[FrameType, str, Any], object]

CURRENT: ContextVar[str] = ContextVar("process")
"""Name of the process whose code runs; tasks and callbacks inherit it."""


class Process:
    """Runs its callbacks in the order of an asyncio loop of its own.

    clock: the virtual time up to which it has run. A process that works long, or stands still, has
    a clock ahead of the world's, and does nothing until the world has caught up.
    standstills: the intervals in which it stood still.
    profile: called for every function call of its code, as by `sys.setprofile`.
    """

    def __init__(self, name: str, now: float) -> None:
        self.name = name
        self.clock = now
        self.standstills: list[tuple[float, float]] = []
        self.profile: Profile | None = None
        self.ready: deque[asyncio.Handle] = deque()
        self._arrivals: list[tuple[float, int, asyncio.Handle]] = []
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._sequence = 0

    def arrive(self, when: float, handle: asyncio.Handle) -> None:
        """Run a callback for what the network brings at a time."""
        self._sequence += 1
        heapq.heappush(self._arrivals, (when, self._sequence, handle))

    def set_timer(self, handle: asyncio.TimerHandle) -> None:
        """Run a timer's callback when it is due."""
        self._sequence += 1
        heapq.heappush(self._timers, (handle.when(), self._sequence, handle))

    def next_turn(self, now: float) -> float:
        """Return when it has something to do and is able to; `inf` for never."""
        if self.ready:
            return max(self.clock, now)
        while self._timers and self._timers[0][2].cancelled():
            heapq.heappop(self._timers)
        due = self._arrivals[0][0] if self._arrivals else inf
        if self._timers:
            due = min(due, self._timers[0][0])
        return max(self.clock, now, due)

    def begin_turn(self, now: float) -> int:
        """Make ready what is due; return how many callbacks this turn has.

        In the order of asyncio's loop: what was ready, then the network, then timers.
        """
        self.clock = max(self.clock, now)
        while self._arrivals and self._arrivals[0][0] <= self.clock:
            self.ready.append(heapq.heappop(self._arrivals)[2])
        while self._timers and self._timers[0][0] <= self.clock:
            self.ready.append(heapq.heappop(self._timers)[2])
        return len(self.ready)

    def stand_still(self, now: float, seconds: float) -> None:
        """Do nothing for so long: from the present point of its code, or between two callbacks."""
        begin = max(self.clock, now)
        self.clock = begin + seconds
        self.standstills.append((begin, self.clock))

    def context(self) -> Context:
        """Return a context for callbacks of this process."""
        context = copy_context()
        context.run(CURRENT.set, self.name)
        return context
