"""The log as it will be when the effects of this step have been carried out (Java:
ReplicatedLog)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.log import Log
from kwire.logdir.names import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetValidation:
    """The result of validating a fetcher's position (Java: ValidOffsetAndEpoch).

    At most one of the two is there.

    diverging: truncate to here and come again. snapshot: the fetcher lags too far, take this one.
    """

    diverging: OffsetAndEpoch | None = None
    snapshot: OffsetAndEpoch | None = None

    @property
    def is_valid(self) -> bool:
        """True if reading can go on from there."""
        return self.diverging is None and self.snapshot is None


class ReplicatedLog:
    """A Log with what this step has appended or truncated. stored: the log itself."""

    def __init__(self, log: Log) -> None:
        self.stored = log
        self._pending: list[tuple[int, bytes]] = []
        self.settle()

    def settle(self) -> None:
        """Forget what was pending: the effects of the last step have been carried out."""
        self._pending.clear()
        self.end = self.stored.end
        self.is_settled = True

    def append(self, data: bytes, end: OffsetAndEpoch) -> None:
        """Add batches that will be in the log, up to `end`."""
        self._pending.append((self.end.offset, data))
        self.end = end

    def truncate(self, position: OffsetAndEpoch) -> None:
        """Note that the log will end at `position`. Nothing may be read until it does."""
        self.end = position
        self.is_settled = False

    @property
    def start_offset(self) -> int:
        """The first offset that can be read."""
        return self.stored.start_offset

    @property
    def latest_snapshot(self) -> OffsetAndEpoch | None:
        """The latest snapshot that may be sent to others: the bootstrap snapshot is none."""
        ids = self.stored.snapshots()
        return ids[-1] if ids and ids[-1] != BOOTSTRAP_SNAPSHOT else None

    def read(self, offset: int, max_bytes: int) -> bytes:
        """Return whole batches from `offset`, which is the first of one."""
        if offset < self.stored.end.offset:
            return self.stored.read(offset, max_bytes)
        return b"".join(data for base, data in self._pending if base >= offset)

    def end_of_epoch(self, epoch: int) -> OffsetAndEpoch:
        """Return the end of the greatest epoch not above `epoch`, and that epoch."""
        return self.end if epoch >= self.end.epoch else self.stored.end_of_epoch(epoch)

    def validate_offset_and_epoch(self, position: OffsetAndEpoch) -> OffsetValidation:
        """Compare the end of another replica's log with this one (validateOffsetAndEpoch).

        1. At offset 0 a snapshot is offered as soon as there is one; else (0, 0) always fits.
        2. Before our log's start, or at it with another epoch than the snapshot's there, or in an
           epoch before that of our earliest snapshot: the latest snapshot.
        3. Behind the end of its epoch here, or in an epoch unknown here: diverging, from the end
           of the greatest epoch below.
        """
        # 1., 2.
        latest = self.latest_snapshot
        if latest is not None and self._is_before_start(position):
            return OffsetValidation(snapshot=latest)
        if position == BOOTSTRAP_SNAPSHOT:
            return OffsetValidation()
        # 3.
        ours = self.end_of_epoch(position.epoch)
        if ours.epoch != position.epoch or ours.offset < position.offset:
            return OffsetValidation(diverging=ours)
        return OffsetValidation()

    def _is_before_start(self, position: OffsetAndEpoch) -> bool:
        earliest = next(id for id in self.stored.snapshots() if id != BOOTSTRAP_SNAPSHOT)
        start = self.start_offset
        at_start = position.offset == start and position.epoch != earliest.epoch and start > 0
        return (
            position.offset == 0
            or position.offset < start
            or at_start
            or position.epoch < earliest.epoch
        )

    def truncation_for(self, diverging: OffsetAndEpoch) -> OffsetAndEpoch:
        """Return the position to truncate to when a leader answers with DivergingEpoch."""
        ours = self.end_of_epoch(diverging.epoch)
        if ours.epoch != diverging.epoch:
            return ours
        return OffsetAndEpoch(offset=min(ours.offset, diverging.offset), epoch=ours.epoch)
