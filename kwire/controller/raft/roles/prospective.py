"""Prospective: asks for pre-votes, so that a lone replica does not disturb a quorum (KIP-996;
Java: ProspectiveState)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.epoch_election import EpochElection
from kwire.controller.raft.roles.role import Elector


@dataclass(slots=True, kw_only=True, eq=False)
class Prospective(Elector):
    """A replica that asks for pre-votes; epoch, leader and vote stay as they were.

    election_deadline: when it gives up asking.
    """

    epoch_election: EpochElection
    election_deadline: int

    @property
    def deadline(self) -> int | None:
        """The end of the election."""
        return self.election_deadline
