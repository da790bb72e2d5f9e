"""What all roles have in common."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.election_state import ElectionState
from kwire.controller.raft.endpoints import NOWHERE, Endpoints
from kwire.controller.raft.replica_key import ReplicaKey


@dataclass(slots=True, kw_only=True, eq=False)
class Role:
    """A replica's part in an epoch. deadline: when the role has something to do; None: never."""

    epoch: int
    leader_id: int | None = None
    leader_endpoints: Endpoints = NOWHERE
    voted_key: ReplicaKey | None = None

    @property
    def name(self) -> str:
        """In small letters."""
        return type(self).__name__.lower()

    @property
    def deadline(self) -> int | None:
        """Milliseconds, as the `now` of a step."""
        return None

    @property
    def election(self) -> ElectionState:
        """What quorum-state must say while this role lasts."""
        return ElectionState(epoch=self.epoch, leader_id=self.leader_id, voted_key=self.voted_key)

    def grants(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """Whether a candidate of this epoch gets the vote. is_up_to_date: its log against ours."""
        return False


@dataclass(slots=True, kw_only=True, eq=False)
class Elector(Role):
    """A role that may vote for others: unattached, prospective."""

    def grants(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """(QuorumState.unattachedOrProspectiveCanGrantVote)

        1. A pre-vote is granted to every log that is up to date.
        2. Whoever has this epoch's vote gets it again, whatever its log.
        3. Nobody gets it while the epoch has a leader.
        4. Else the log decides.
        """
        if pre_vote:
            return is_up_to_date
        if self.voted_key is not None:
            return self.voted_key.covers(candidate)
        return self.leader_id is None and is_up_to_date
