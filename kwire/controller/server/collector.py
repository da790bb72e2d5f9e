"""Control of Python's garbage collector.

A full collection visits every object and stops all threads: for a large image, or a message of
millions of elements, up to a second. Images and messages form no cycles, so that
a collection would free nothing of them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


class Collector:
    """Pauses the garbage collector while very many objects are made that form no cycles."""

    def __init__(self) -> None:
        self._pauses = 0
        self._was_enabled = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause it for the block; overlapping blocks of several tasks are one pause."""
        if not self._pauses:
            self._was_enabled = gc.isenabled()
            gc.disable()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if self._was_enabled and not self._pauses:
                gc.enable()

    def leave_out_all(self) -> None:
        """Leave every object that there is now out of all later collections."""
        gc.freeze()


collector = Collector()
"""The collector of this process."""
