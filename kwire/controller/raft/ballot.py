"""The votes of one election, counted."""

from __future__ import annotations

from collections.abc import Iterable


class Ballot:
    """Who of the voters granted, who refused; whoever stands has granted to itself."""

    def __init__(self, voters: Iterable[int], local_id: int) -> None:
        self._voters = frozenset(voters)
        self.granting = {local_id} & self._voters
        self.rejecting: set[int] = set()

    def record(self, voter: int, *, granted: bool) -> None:
        """A voter's answer. The last one counts; others than voters do not."""
        if voter in self._voters:
            self.granting.discard(voter)
            self.rejecting.discard(voter)
            (self.granting if granted else self.rejecting).add(voter)

    @property
    def missing(self) -> frozenset[int]:
        """Whose answer is not there yet."""
        return self._voters - self.granting - self.rejecting

    @property
    def _majority(self) -> int:
        return len(self._voters) // 2 + 1

    @property
    def is_granted(self) -> bool:
        """Whether a majority said yes."""
        return len(self.granting) >= self._majority

    @property
    def is_rejected(self) -> bool:
        """Whether no majority can say yes any more."""
        return len(self._voters) - len(self.rejecting) < self._majority
