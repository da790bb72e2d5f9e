"""The latest events of a feed by number, bounded by the memory they take."""

from __future__ import annotations

from itertools import islice

from kwire.proxy.flows.flow import Event

LIMIT = 32 * 1024 * 1024
"""Bytes of events that a feed keeps for viewers that come later or ask for a whole flow."""


class RecentEvents:
    """The latest events; the oldest are removed to make room for new ones."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._events: dict[int, tuple[float, Event]] = {}
        self._weight = 0

    def add(self, number: int, monotonic: float, event: Event) -> None:
        """Add an event that came at a monotonic time, in seconds."""
        self._events[number] = monotonic, event
        self._weight += event.weight
        while self._weight > self._limit and len(self._events) > 1:
            oldest = next(iter(self._events))
            self._weight -= self._events.pop(oldest)[1].weight

    def get(self, number: int) -> tuple[float, Event] | None:
        """Return when an event came and the event, None if it has been removed."""
        return self._events.get(number)

    def latest(self, most: int) -> list[tuple[int, float, Event]]:
        """Return number, time and event of the latest ones, the oldest of them first."""
        newest_first = islice(reversed(self._events.items()), max(most, 0))
        return [(number, *event) for number, event in newest_first][::-1]
