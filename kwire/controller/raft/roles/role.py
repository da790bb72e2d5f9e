"""The part that all roles have in common (Java: EpochState)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.election_state import ElectionState
from kwire.controller.raft.endpoints import NO_ENDPOINTS, Endpoints
from kwire.controller.raft.replica_key import ReplicaKey


@dataclass(slots=True, kw_only=True, eq=False)
class Role:
    """A replica's part in an epoch."""

    epoch: int
    leader_id: int | None = None
    leader_endpoints: Endpoints = NO_ENDPOINTS
    voted_key: ReplicaKey | None = None

    @property
    def name(self) -> str:
        """The role's name in small letters."""
        return type(self).__name__.lower()

    @property
    def deadline(self) -> int | None:
        """The time of the role's next work, in milliseconds as the `now` of a step; None: never."""
        return None

    @property
    def election(self) -> ElectionState:
        """The content of quorum-state while this role lasts."""
        return ElectionState(epoch=self.epoch, leader_id=self.leader_id, voted_key=self.voted_key)

    def can_grant_vote(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """Return True if a candidate of this epoch gets the vote (EpochState.canGrantVote).

        is_up_to_date: the candidate's log ends no earlier than this replica's.
        """
        return False


@dataclass(slots=True, kw_only=True, eq=False)
class Elector(Role):
    """A role that may vote for others: unattached, prospective."""

    def can_grant_vote(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """Decide by vote, leader and log (QuorumState.unattachedOrProspectiveCanGrantVote).

        1. A pre-vote is granted to every log that is up to date.
        2. Whoever has this epoch's vote gets it again, whatever its log.
        3. Nobody gets it while the epoch has a leader.
        4. Else the log decides.
        """
        # 1.
        if pre_vote:
            return is_up_to_date
        # 2. The answer to its first request may have been lost.
        if self.voted_key is not None:
            return self.voted_key.covers(candidate)
        # 3., 4.
        return self.leader_id is None and is_up_to_date
