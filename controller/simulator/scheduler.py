"""Virtual time: the next action is the one with the earliest time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random

from controller.simulator.violation import Violation

START = 1_000_000_000
"""Milliseconds; any number that leaves room for a clock that is set back."""

MAX_ACTIONS = 500_000
"""Of one `run_until`, as in Kafka's simulation."""


class Scheduler:
    """Runs actions in the order of their times; equal times in the order of asking."""

    def __init__(self, random: Random) -> None:
        self.now = START
        self.random = random
        self.actions = 0
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0

    @property
    def elapsed(self) -> int:
        """Milliseconds since the beginning."""
        return self.now - START

    def later(self, delay: int, action: Callable[[], None]) -> None:
        """Run an action `delay` milliseconds from now."""
        self._count += 1
        heapq.heappush(self._queue, (self.now + max(0, delay), self._count, action))

    def every(self, period: int, jitter: int, action: Callable[[], None]) -> None:
        """Run an action again and again, `period` to `period + jitter` milliseconds apart."""

        def again() -> None:
            action()
            self.every(period, jitter, action)

        self.later(period + self.random.randrange(jitter + 1), again)

    def run_until(self, done: Callable[[], bool], what: str, limit_ms: int = 120_000) -> None:
        """Let time pass until something is so; a Violation where it never is."""
        end, most = self.now + limit_ms, self.actions + MAX_ACTIONS
        while not done():
            time, _, action = heapq.heappop(self._queue)
            if time > end or self.actions > most:
                seconds = limit_ms // 1000
                raise Violation("Progress", f"within {seconds} s it was not so that {what}")
            self.now = max(self.now, time)
            self.actions += 1
            action()

    def run_for(self, milliseconds: int) -> None:
        """Let time pass."""
        end = self.now + milliseconds
        while self._queue and self._queue[0][0] <= end:
            time, _, action = heapq.heappop(self._queue)
            self.now = max(self.now, time)
            self.actions += 1
            action()
        self.now = end
