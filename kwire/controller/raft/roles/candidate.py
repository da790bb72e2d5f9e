"""Candidate: has voted for itself in a new epoch and asks the others (Java: CandidateState)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.epoch_election import EpochElection
from kwire.controller.raft.roles.role import Role


@dataclass(slots=True, kw_only=True, eq=False)
class Candidate(Role):
    """A replica that stands for election.

    election_deadline: when it becomes prospective again, whether the election is lost or not.
    """

    epoch_election: EpochElection
    election_deadline: int

    @property
    def deadline(self) -> int | None:
        """The end of the election."""
        return self.election_deadline
