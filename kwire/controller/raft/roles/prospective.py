"""Prospective: asks for pre-votes, so that a lone replica does not disturb a quorum (KIP-996)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.ballot import Ballot
from kwire.controller.raft.roles.role import Elector


@dataclass(slots=True, kw_only=True, eq=False)
class Prospective(Elector):
    """Keeps epoch, leader and vote as they were. election_deadline: when it gives up asking."""

    ballot: Ballot
    election_deadline: int

    @property
    def deadline(self) -> int | None:
        """The end of the election."""
        return self.election_deadline
