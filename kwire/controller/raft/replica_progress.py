"""The log end and the fetch times of a replica, as its leader knows them (Java:
LeaderState.ReplicaState)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.endpoints import NO_ENDPOINTS, Endpoints
from kwire.controller.raft.replica_key import ReplicaKey

UNKNOWN = -1


@dataclass(slots=True, kw_only=True)
class ReplicaProgress:
    """A voter or an observer. end_offset: None until it fetches. Times are milliseconds, or -1.

    last_caught_up: the last time at which it had everything that the leader had then.
    told_high_watermark: in the last answer to it; None before the first.
    """

    key: ReplicaKey
    endpoints: Endpoints = NO_ENDPOINTS
    end_offset: int | None = None
    last_fetch: int = UNKNOWN
    last_caught_up: int = UNKNOWN
    leader_end_at_last_fetch: int = UNKNOWN
    told_high_watermark: int | None = None

    def record_fetch(self, offset: int, leader_end: int, now: int) -> None:
        """Note a fetch at `offset`: everything before it is on the replica's disk."""
        if offset >= leader_end:
            self.last_caught_up = max(self.last_caught_up, now)
        # Under steady load no fetch reaches the present end; one that reaches the end of the last
        # fetch shows that the replica was caught up then (ReplicaState.updateFollowerState).
        elif 0 < self.leader_end_at_last_fetch <= offset:
            self.last_caught_up = max(self.last_caught_up, self.last_fetch)
        self.leader_end_at_last_fetch = leader_end
        self.last_fetch = max(self.last_fetch, now)
        self.end_offset = offset

    @property
    def rank(self) -> tuple[int, int]:
        """The key by which the best log sorts first, the lower id first among equals."""
        return (-(UNKNOWN if self.end_offset is None else self.end_offset), self.key.id)
