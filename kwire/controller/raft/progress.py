"""How far a replica has come, as its leader knows from its fetches."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.endpoints import NOWHERE, Endpoints
from kwire.controller.raft.replica_key import ReplicaKey

UNKNOWN = -1


@dataclass(slots=True, kw_only=True)
class Progress:
    """A voter or an observer. end_offset: None until it fetches. Times are milliseconds, or -1.

    last_caught_up: the last time at which it had everything that the leader had then.
    """

    key: ReplicaKey
    endpoints: Endpoints = NOWHERE
    end_offset: int | None = None
    last_fetch: int = UNKNOWN
    last_caught_up: int = UNKNOWN
    leader_end_at_last_fetch: int = UNKNOWN
    has_acknowledged: bool = False

    def fetched(self, offset: int, leader_end: int, now: int) -> None:
        """A fetch at `offset` shows that everything before it is on its disk."""
        if offset >= leader_end:
            self.last_caught_up = max(self.last_caught_up, now)
        elif 0 < self.leader_end_at_last_fetch <= offset:
            self.last_caught_up = max(self.last_caught_up, self.last_fetch)
        self.leader_end_at_last_fetch = leader_end
        self.last_fetch = max(self.last_fetch, now)
        self.end_offset = offset
        self.has_acknowledged = True

    @property
    def rank(self) -> tuple[int, int]:
        """Sorts the best log first, the lower id first among equals."""
        return (-(UNKNOWN if self.end_offset is None else self.end_offset), self.key.id)
