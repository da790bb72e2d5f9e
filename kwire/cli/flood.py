"""Lets so much through that a person can read along: what repeats is shown now and then."""

from __future__ import annotations

PAUSE = 3.0
"""Seconds until the same kind of RPC between the same two nodes is shown again."""


class Flood:
    """Remembers when each kind of flow was shown last, and how many were not."""

    def __init__(self, pause: float = PAUSE) -> None:
        self._pause = pause
        self._shown: dict[tuple[object, ...], float] = {}
        self._skipped: dict[tuple[object, ...], int] = {}

    def passes(self, kind: tuple[object, ...], at: float) -> int | None:
        """None when it is to be skipped, else how many of its kind were skipped before it."""
        last = self._shown.get(kind)
        if last is not None and at - last < self._pause:
            self._skipped[kind] = self._skipped.get(kind, 0) + 1
            return None
        self._shown[kind] = at
        return self._skipped.pop(kind, 0)
