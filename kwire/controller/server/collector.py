"""Python's garbage collector: a full collection of a large image stops all threads for a second."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


class Collector:
    """Lets the garbage collector rest while very many objects are made that form no cycles."""

    def __init__(self) -> None:
        self._pauses = 0
        self._was_enabled = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause it, until the last of those who want so has ended."""
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
        """Have no later collection visit what there is now."""
        gc.freeze()


collector = Collector()
"""The collector of this process."""
