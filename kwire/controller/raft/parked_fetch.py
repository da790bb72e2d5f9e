"""A Fetch that the leader holds back until there is something new to say (Kafka's purgatory)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.events import RequestReceived


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedFetch:
    """offset: the fetch offset. high_watermark: the leader's when it was parked. epoch: then too.

    deadline: when an empty answer is due.
    """

    received: RequestReceived
    offset: int
    high_watermark: int
    epoch: int
    deadline: int

    def is_due(self, end_offset: int, high_watermark: int, now: int) -> bool:
        """Whether the answer has changed, or time is up."""
        return (
            end_offset > self.offset or high_watermark > self.high_watermark or now >= self.deadline
        )
