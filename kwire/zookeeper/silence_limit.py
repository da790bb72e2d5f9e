"""Notice that a server answers no requests any more, though its connection is kept up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

LOOKS = 4
"""The looks for answers within the limit. They are counted, not seconds: a process that stood still
has answers to read first."""


class SilenceLimit:
    """Calls a function if none of the requests under way is answered for a number of seconds.

    exceeded: called once each time the limit is reached.
    """

    def __init__(self, seconds: float, exceeded: Callable[[], object]) -> None:
        self._pause = seconds / LOOKS
        self._exceeded = exceeded
        self._loop = asyncio.get_running_loop()
        self._waiting = 0
        self._looks = 0
        self._timer: asyncio.TimerHandle | None = None

    def sent(self) -> None:
        """Count a request that is to be answered."""
        if not self._waiting:
            self._looks = 0
        self._waiting += 1
        if self._timer is None:
            self._look_later()

    def ended(self) -> None:
        """Count a request that was answered, or that failed."""
        self._waiting -= 1
        self._looks = 0

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _look_later(self) -> None:
        self._timer = self._loop.call_later(self._pause, self._look)

    def _look(self) -> None:
        self._timer = None
        if not self._waiting:
            return
        self._looks += 1
        if self._looks > LOOKS:
            self._looks = 0
            self._exceeded()
        self._look_later()
