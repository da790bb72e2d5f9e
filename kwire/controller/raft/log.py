"""The log as the core reads it. The core never writes: its effects say what to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kwire.logdir.names import OffsetAndEpoch


class Log(Protocol):
    """A log of record batches and the snapshots that stand for its beginning.

    The effects of a step are carried out, in their order, before the next step; the log then
    shows them. `kwire.controller.server.directory_log` has one.
    """

    @property
    def start_offset(self) -> int:
        """The first offset that can be read; if it is above 0, a snapshot ends there."""
        ...

    @property
    def end(self) -> OffsetAndEpoch:
        """The next offset, and the epoch of the last record, else of the snapshot, else 0."""
        ...

    def end_of_epoch(self, epoch: int) -> OffsetAndEpoch:
        """Return the end of the greatest epoch not above `epoch`, and that epoch.

        Snapshots count: below the log's first epoch it is the earliest snapshot's id. An epoch
        above the last gives `end`.
        """
        ...

    def read(self, offset: int, max_bytes: int) -> bytes:
        """Return whole batches from the one that has `offset` on, at least one if there is one."""
        ...

    def snapshots(self) -> Sequence[OffsetAndEpoch]:
        """Return the ids of complete snapshots, ascending, the bootstrap snapshot among them."""
        ...

    def snapshot_size(self, id: OffsetAndEpoch) -> int | None:
        """Return the bytes of a snapshot; None if there is no such snapshot."""
        ...

    def read_snapshot(self, id: OffsetAndEpoch, position: int, max_bytes: int) -> bytes:
        """Return bytes of a snapshot, cut anywhere."""
        ...
