"""What happened in a simulated world, one line each, for people who look for the cause."""

from __future__ import annotations

import logging
from collections.abc import Callable

from tests.controller.virtual.process import CURRENT

KEPT = 5000


class Timeline(logging.Handler):
    """Keeps lines of virtual time, process and text; also what the nodes log."""

    def __init__(self, time: Callable[[], float]) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._time, self._start = time, time()

    def say(self, text: str) -> None:
        """Add a line in the name of the process whose code runs."""
        elapsed = self._time() - self._start
        self.lines.append(f"{elapsed:9.3f} s  {CURRENT.get('test'):<10} {text}")
        del self.lines[:-KEPT]

    def emit(self, record: logging.LogRecord) -> None:
        self.say(f"[{record.levelname.lower()}] {record.getMessage()}")
