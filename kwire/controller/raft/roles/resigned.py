"""Resigned: was this epoch's leader, and does not come back in it."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles.role import Role


@dataclass(slots=True, kw_only=True, eq=False)
class Resigned(Role):
    """unacknowledged: voters still to be told. preferred: successors, the best log first.

    After a restart there are no preferred ones, and the epoch may be long over.
    """

    leader_id: int
    election_deadline: int
    unacknowledged: set[int]
    preferred: tuple[ReplicaKey, ...] = ()

    @property
    def deadline(self) -> int | None:
        """When it is unattached in the next epoch."""
        return self.election_deadline

    def grants(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """Only a pre-vote: this epoch has had its leader."""
        return pre_vote and is_up_to_date
