"""The state, image and effects that all operations of the migration's driver share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kwire.image import EMPTY, MetadataImage
from kwire.image.changes import MetadataChanges
from kwire.logdir.names import OffsetAndEpoch
from kwire.migration.driver.driver_states import (
    BECOME_CONTROLLER,
    INACTIVE,
    SUCCESSORS,
    UNINITIALIZED,
    MigrationDriverState,
)
from kwire.migration.driver.effects import DriverEffect, DriverRequest, ForgetBrokers, LogLine
from kwire.migration.driver.leadership import ZkMigrationLeadershipState
from kwire.migration.driver.znode_write import ZnodeWrite

Steps = Generator[DriverRequest, Any, None]
"""An operation: it yields each request, gets its answer, or its error raised, and goes on."""

DualWrites = Callable[[MetadataChanges, int], Sequence[ZnodeWrite]]
"""The writes of what has changed; the number is the epoch of this controller in the quorum."""

FIRST_POLL, LAST_POLL = 100, 60_000
"""Milliseconds between two polls in one state, doubling (Java: PollTimeSupplier)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumLeader:
    """The leader of an epoch of the quorum; id: None while there is none."""

    id: int | None = None
    epoch: int = -1


class DriverCore:
    """The fields that operations read and change.

    leadership: with this controller's claim. recovered: as it was read from /migration when this
    controller began to lead. leader: the latest one. adopted: the one that was followed. image, at:
    the latest that was published; `has_image` once one was. failures: of writes since dual write.
    """

    def __init__(
        self, node_id: int, voters: Callable[[], Iterable[int]], dual_writes: DualWrites
    ) -> None:
        self.node_id = node_id
        self.voters = voters
        self.dual_writes = dual_writes
        self.state = UNINITIALIZED
        self.leadership = ZkMigrationLeadershipState()
        self.recovered = ZkMigrationLeadershipState()
        self.leader = QuorumLeader()
        self.adopted = QuorumLeader()
        self.image: MetadataImage = EMPTY
        self.at = OffsetAndEpoch(offset=-1, epoch=-1)
        self.has_image = False
        self.now = 0
        self.poll_at: int | None = None
        self.polls = 0
        self.failures = 0
        self.effects: list[DriverEffect] = []

    def take_image(self, image: MetadataImage, at: OffsetAndEpoch) -> None:
        """Remember the latest image."""
        self.image, self.at, self.has_image = image, at, True

    @property
    def leads(self) -> bool:
        """True if this controller leads the quorum."""
        return self.leader.id == self.node_id

    def emit(self, effect: DriverEffect) -> None:
        """Add an effect to those of the step."""
        self.effects.append(effect)

    def info(self, text: str) -> None:
        """Log a line."""
        self.emit(LogLine(level=logging.INFO, text=text))

    def error(self, text: str) -> None:
        """Log an error."""
        self.emit(LogLine(level=logging.ERROR, text=text))

    def transition(self, state: MigrationDriverState) -> None:
        """Go to another state and poll at once, or stay; an inactive driver controls no broker."""
        if state is self.state:
            return
        assert state in SUCCESSORS[self.state], f"{self.state.name} is not before {state.name}"
        self.info(f"{self.node_id} transitioning from {self.state.name} to {state.name} state")
        if state is INACTIVE:
            self.emit(ForgetBrokers())
        self.state = state
        self.polls = 0
        self.poll_at = self.now

    def retreat(self) -> None:
        """Go back to the claim after a write that failed, and try again later and later.

        What ZooKeeper has is not known any more: the claim learns it, and the synchronisation
        after it writes whatever is missing.
        """
        self.failures += 1
        self.leadership = self.leadership.without_claim()
        self.transition(BECOME_CONTROLLER)
        self.polls = self.failures
        self.poll_at = self.now + poll_delay(self.polls - 1)

    def wake_up(self) -> None:
        """Poll at once."""
        self.poll_at = self.now


def poll_delay(polls: int) -> int:
    """Return the milliseconds until the next poll, after so many without a transition."""
    return min(FIRST_POLL << min(polls, 16), LAST_POLL)
