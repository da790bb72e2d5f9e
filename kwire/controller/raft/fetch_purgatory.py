"""A Fetch that the leader holds back until there is something new to say (Java: fetchPurgatory)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.events import RequestReceived


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayedFetch:
    """A request that waits.

    offset: the fetch offset. high_watermark, epoch: the leader's when the request came.
    deadline: when an empty answer is due.
    """

    received: RequestReceived
    offset: int
    high_watermark: int
    epoch: int
    deadline: int

    def is_due(self, end_offset: int, high_watermark: int, now: int) -> bool:
        """True if there are records or a higher high watermark to tell, or time is up."""
        return (
            end_offset > self.offset or high_watermark > self.high_watermark or now >= self.deadline
        )
