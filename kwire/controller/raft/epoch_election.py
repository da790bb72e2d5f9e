"""The votes of one election, counted (Java: EpochElection)."""

from __future__ import annotations

from collections.abc import Iterable


class EpochElection:
    """The voters that granted and that rejected; a replica that stands has granted to itself.

    The voters are those of the moment in which the election begins.
    """

    def __init__(self, voters: Iterable[int], local_id: int) -> None:
        self._voters = frozenset(voters)
        self.granting_voters = {local_id} & self._voters
        self.rejecting_voters: set[int] = set()

    def record_vote(self, voter: int, *, granted: bool) -> None:
        """Record a voter's answer. The last one counts; answers of others do not."""
        if voter in self._voters:
            self.granting_voters.discard(voter)
            self.rejecting_voters.discard(voter)
            (self.granting_voters if granted else self.rejecting_voters).add(voter)

    @property
    def unrecorded_voters(self) -> frozenset[int]:
        """The voters that have not answered yet."""
        return self._voters - self.granting_voters - self.rejecting_voters

    @property
    def _majority(self) -> int:
        return len(self._voters) // 2 + 1

    @property
    def is_vote_granted(self) -> bool:
        """True if a majority granted."""
        return len(self.granting_voters) >= self._majority

    @property
    def is_vote_rejected(self) -> bool:
        """True if no majority can grant any more."""
        return len(self._voters) - len(self.rejecting_voters) < self._majority
