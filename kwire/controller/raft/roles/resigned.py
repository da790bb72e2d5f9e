"""Resigned: was this epoch's leader, and does not come back in it (Java: ResignedState)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles.role import Role


@dataclass(slots=True, kw_only=True, eq=False)
class Resigned(Role):
    """A former leader that tells the voters so.

    unacknowledged: voters still to be told. preferred_successors: the best log first; none after a
    restart, when the epoch may be long over.
    """

    leader_id: int
    election_deadline: int
    unacknowledged: set[int]
    preferred_successors: tuple[ReplicaKey, ...] = ()

    @property
    def deadline(self) -> int | None:
        """The time at which it is unattached in the next epoch."""
        return self.election_deadline

    def can_grant_vote(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """Grant only a pre-vote: this epoch has had its leader."""
        return pre_vote and is_up_to_date
