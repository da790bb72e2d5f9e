"""The CPU time and the memory of a process and all that it started, from /proc."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Self

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
SECONDS = 1.0
"""Between two looks at memory."""


class ProcessTree:
    """Measures while the context lasts. cpu, wall: seconds, of processes that ended too."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0
        self._peaks: dict[str, int] = {}
        self._ending = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def peak(self, name: str) -> float:
        """Most resident megabytes that one process with this in its name has had."""
        return max((size for what, size in self._peaks.items() if name in what), default=0) / 1e6

    def __enter__(self) -> Self:
        self._start = _cpu(), time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        cpu, start = self._start
        self.cpu, self.wall = _cpu() - cpu, time.monotonic() - start
        self._ending.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ending.wait(SECONDS):
            for fields in processes():
                name, size = fields[0], int(fields[22]) * PAGE
                if fields[-1] != str(os.getpid()):
                    self._peaks[name] = max(self._peaks.get(name, 0), size)


def _cpu() -> float:
    """Seconds of this process, its descendants, and those of them that have ended."""
    return sum(sum(map(int, fields[12:16])) for fields in processes()) / TICK


def processes() -> list[list[str]]:
    """Return name, then the fields of /proc/PID/stat behind it, then the id, of the whole tree."""
    found: dict[str, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            head, _, rest = path.read_text().rpartition(")")
            found[path.parent.name] = [head.partition("(")[2], *rest.split(), path.parent.name]
    tree = {str(os.getpid())}
    grown = True
    while grown:
        more = {pid for pid, fields in found.items() if fields[2] in tree} - tree
        tree |= more
        grown = bool(more)
    return [found[pid] for pid in tree if pid in found]
