"""Memory for long frames: kept by the process while they pass, and given back behind them."""

from __future__ import annotations

from collections.abc import Callable

KEPT = 128 * 1024 * 1024
"""Bytes of freed memory that are kept: what a recording's queue and unfinished copies may take."""

USUAL = 8 * 1024 * 1024
"""The same at other times: what glibc keeps by itself where frames of 4 MiB come and go."""

QUIET = 5.0
"""Seconds without a long frame, after which memory is given back."""


def _setting() -> Callable[[int], None]:
    try:
        from kwire.capture.native import keep_freed
    except ImportError:
        return lambda size: None
    return keep_freed


class FreedMemory:
    """The memory that long frames leave behind.

    Without it the C library gives the pages of each back to the system and takes new ones, empty
    ones, for the next: that costs more than copying the frame.
    """

    def __init__(self, keep: Callable[[int], None] | None = None) -> None:
        self._keep = keep or _setting()
        self._until: float | None = None

    def use(self, now: float) -> None:
        """Keep memory from now on: a long frame has passed. now: monotonic seconds."""
        if self._until is None:
            self._keep(KEPT)
        self._until = now + QUIET

    def tick(self, now: float) -> None:
        """Give memory back if no long frame has passed for a while."""
        if self._until is not None and now >= self._until:
            self.release()

    def release(self) -> None:
        """Give memory back, if it was kept."""
        if self._until is not None:
            self._until = None
            self._keep(USUAL)
