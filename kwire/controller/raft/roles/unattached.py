"""Unattached: no leader is known, or not its address (Java: UnattachedState)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.roles.role import Elector


@dataclass(slots=True, kw_only=True, eq=False)
class Unattached(Elector):
    """A replica that looks for the leader: it fetches from bootstrap servers.

    election_deadline: when a voter becomes prospective.
    """

    election_deadline: int

    @property
    def deadline(self) -> int | None:
        """The end of the election timeout."""
        return self.election_deadline
