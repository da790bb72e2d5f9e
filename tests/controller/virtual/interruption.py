"""Stops a process at any function call of the controller's code, as SIGSTOP does to a real one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import kwire.controller
from tests.controller.virtual.loop import VirtualLoop

CODE = str(Path(kwire.controller.__file__).parent)
"""Calls are counted in this folder only: what caches leave out elsewhere changes no count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A place in the code: `calls` calls and returns after a function was left.

    file: the end of its path; an empty one, with an empty function, is any place.
    """

    file: str = ""
    function: str = ""
    calls: int = 0

    def __str__(self) -> str:
        place = f"{self.function} of {self.file}" if self.file else "now"
        return f"{self.calls} calls after {place}"


class Interruption:
    """Makes a process stand still once, at a point of its code.

    place: the function it stood still in, once it has.
    """

    def __init__(self, loop: VirtualLoop, process: str, point: Point, seconds: float) -> None:
        self.place: str | None = None
        self._over = asyncio.Event()
        self._loop, self._process = loop, loop.process(process)
        self._point, self._seconds = point, seconds
        self._is_counting = not point.file
        self._left = point.calls
        self._process.profile = self._called

    @property
    def is_pending(self) -> bool:
        """True until the process has stood still, or the interruption is cancelled."""
        return self._process.profile == self._called

    async def over(self, timeout: float) -> bool:
        """Wait until the process has come to the point; return False if it has not in time."""
        try:
            async with asyncio.timeout(timeout):
                await self._over.wait()
        except TimeoutError:
            self.cancel()
            return False
        return True

    def cancel(self) -> None:
        """Let the process go on."""
        if self.is_pending:
            self._process.profile = None
        self._over.set()

    def _called(self, frame: FrameType, event: str, argument: object) -> None:
        code, point = frame.f_code, self._point
        if event not in ("call", "return") or not code.co_filename.startswith(CODE):
            return
        if self.place is not None:
            return
        if not self._is_counting:
            is_there = code.co_name == point.function and code.co_filename.endswith(point.file)
            self._is_counting = is_there and event == "return"
            return
        if self._left > 0:
            self._left -= 1
            return
        self.place = f"{event} of {Path(code.co_filename).name}:{code.co_name}"
        self._process.stand_still(self._loop.now, self._seconds)
        self._process.profile = None
        self._over.set()
