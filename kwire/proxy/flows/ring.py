"""The latest events, bounded by the bytes they hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from kwire.proxy.flows.flow import Event

RING_LIMIT = 64 * 1024 * 1024
"""Bytes of events kept by default."""


class Ring:
    """A sink that keeps what came last. Old events leave when the new ones need their room.

    weight: bytes held. dropped: events that have left.
    """

    def __init__(self, limit: int = RING_LIMIT) -> None:
        self._events: deque[Event] = deque()
        self._limit = limit
        self.weight = 0
        self.dropped = 0

    def __call__(self, event: Event) -> None:
        """Keep an event; one that alone exceeds the limit is kept until the next one comes."""
        self._events.append(event)
        self.weight += event.weight
        while self.weight > self._limit and len(self._events) > 1:
            self.weight -= self._events.popleft().weight
            self.dropped += 1

    def __iter__(self) -> Iterator[Event]:
        """Oldest first, as they are now."""
        return iter(tuple(self._events))

    def __len__(self) -> int:
        return len(self._events)
