"""Unattached: no leader is known, or not where it is."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.roles.role import Elector


@dataclass(slots=True, kw_only=True, eq=False)
class Unattached(Elector):
    """election_deadline: when a voter becomes prospective. It fetches from bootstrap servers."""

    election_deadline: int

    @property
    def deadline(self) -> int | None:
        """The end of its patience."""
        return self.election_deadline
