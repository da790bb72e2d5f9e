"""What a simulation looks for."""

from __future__ import annotations


class Violation(Exception):
    """An invariant does not hold. invariant: its name."""

    def __init__(self, invariant: str, text: str) -> None:
        self.invariant = invariant
        super().__init__(f"{invariant}: {text}")
