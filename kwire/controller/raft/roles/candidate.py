"""Candidate: has voted for itself in a new epoch and asks the others."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.ballot import Ballot
from kwire.controller.raft.roles.role import Role


@dataclass(slots=True, kw_only=True, eq=False)
class Candidate(Role):
    """election_deadline: when it becomes prospective again, lost election or not."""

    ballot: Ballot
    election_deadline: int

    @property
    def deadline(self) -> int | None:
        """The end of the election."""
        return self.election_deadline
