"""What a machine does with committed records."""

from __future__ import annotations

from typing import Protocol

from controller.raft import OffsetAndEpoch, Raft


class StateMachine(Protocol):
    """It is told what its replica tells it, within a step: it must not begin another one then."""

    @property
    def applied(self) -> OffsetAndEpoch:
        """Everything before it is in the state."""

    def load(self, id: OffsetAndEpoch) -> None:
        """Begin anew from a snapshot."""

    def commit(self, high_watermark: int) -> None:
        """Apply what is committed now."""

    def take_snapshot(self, raft: Raft) -> OffsetAndEpoch:
        """Write a snapshot of everything applied; its id."""

    def leads(self, epoch: int) -> None:
        """This replica leads."""

    def resigns(self) -> None:
        """It leads no more."""
