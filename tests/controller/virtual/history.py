"""What clients asked for, what they were answered and when: the promises are checked on it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kwire.error_codes import ErrorCode

ALLOWANCE = 1.0
"""Seconds an answer may take beyond the request's timeout, for the way there and back."""


class Ending(StrEnum):
    """How a request ended."""

    OPEN = "open"
    ANSWERED = "answered"
    BROKEN = "connection broken"
    UNANSWERED = "unanswered"


@dataclass(slots=True, kw_only=True)
class Write:
    """One CreateTopics request to a node. Times are seconds; errors: error code by topic."""

    number: int
    client: str
    node_id: int
    names: tuple[str, ...]
    timeout: float
    sent: float
    ended: float = 0.0
    ending: Ending = Ending.OPEN
    errors: Mapping[str, int] = field(default_factory=dict)

    @property
    def acknowledged(self) -> frozenset[str]:
        """The topics that exist for ever, as the node said."""
        return frozenset(name for name, code in self.errors.items() if code == ErrorCode.NONE)

    def overdue(self, standstills: Iterable[tuple[float, float]]) -> float:
        """Return by how many seconds it was too late; time in which the node stood still is free.

        A request whose connection broke has ended then.
        """
        stood = sum(
            max(0.0, min(end, self.ended) - max(begin, self.sent)) for begin, end in standstills
        )
        return self.ended - self.sent - stood - self.timeout - ALLOWANCE

    def __str__(self) -> str:
        names = self.names[0] if len(self.names) == 1 else f"{len(self.names)} topics"
        return f"request {self.number} of {self.client} ({names}) to node {self.node_id}"


@dataclass(slots=True, kw_only=True)
class History:
    """All writes, in the order in which they were sent. news: set whenever one has ended."""

    writes: list[Write] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def acknowledged(self) -> set[str]:
        """Every topic that a client was told exists."""
        return {name for write in self.writes for name in write.acknowledged}

    def lost(self, topics: Mapping[int, set[str]]) -> Iterator[str]:
        """Yield what is acknowledged and not on a node. topics: at the end, by node."""
        for node_id, present in topics.items():
            for write in self.writes:
                missing = write.acknowledged - present
                if missing:
                    yield (
                        f"LOST: {write} was answered at {write.ended:.3f}, and"
                        f" {len(missing)} of its topics are not on node {node_id}:"
                        f" {', '.join(sorted(missing)[:3])}"
                    )

    def late(self, standstills: Mapping[int, list[tuple[float, float]]]) -> Iterator[str]:
        """Yield the requests to these nodes that waited too long. standstills: of each node."""
        for write in self.writes:
            if write.node_id not in standstills:
                continue
            overdue = write.overdue(standstills[write.node_id])
            if write.ending is Ending.UNANSWERED or overdue > 0:
                yield (
                    f"LATE: {write} has a timeout of {write.timeout:.1f} s and is {write.ending}"
                    f" {write.ended - write.sent:.1f} s after it was sent at {write.sent:.3f}"
                    f" (error codes {sorted(set(write.errors.values()))})"
                )

    def counts(self) -> dict[str, int]:
        """Return how many requests ended how, and how many topics exist for ever."""
        endings = [write.ending for write in self.writes]
        by_ending = {str(ending): endings.count(ending) for ending in Ending if ending in endings}
        return by_ending | {"topics acknowledged": len(self.acknowledged)}
