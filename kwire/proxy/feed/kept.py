"""The latest events by their numbers, bounded by the bytes they hold."""

from __future__ import annotations

from itertools import islice

from kwire.proxy.flows.flow import Event

KEPT = 32 * 1024 * 1024
"""Bytes of events that a feed keeps for viewers who come later or want a whole flow."""


class Kept:
    """What came last. Old events leave when new ones need their room."""

    def __init__(self, limit: int = KEPT) -> None:
        self._limit = limit
        self._events: dict[int, tuple[float, Event]] = {}
        self._weight = 0

    def add(self, number: int, monotonic: float, event: Event) -> None:
        """Keep it."""
        self._events[number] = monotonic, event
        self._weight += event.weight
        while self._weight > self._limit and len(self._events) > 1:
            oldest = next(iter(self._events))
            self._weight -= self._events.pop(oldest)[1].weight

    def get(self, number: int) -> tuple[float, Event] | None:
        """When it came and what it was, if it is still here."""
        return self._events.get(number)

    def latest(self, most: int) -> list[tuple[int, float, Event]]:
        """The latest ones, the oldest of them first."""
        found = islice(reversed(self._events.items()), max(most, 0))
        return [(number, *event) for number, event in found][::-1]
