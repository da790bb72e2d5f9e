"""A snapshot that an observer downloads piece by piece (KIP-630)."""

from __future__ import annotations

from pathlib import Path

from kwire.errors import WireError
from kwire.logdir.names import OffsetAndEpoch, snapshot_name
from kwire.logdir.snapshots import SnapshotContent, snapshot_content
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotRequest,
    PartitionSnapshot,
    ResponsePartitionSnapshot,
    SnapshotId,
    TopicSnapshot,
)

SNAPSHOT_LIMIT = 1 << 30
"""Bytes of the longest snapshot that is downloaded."""

PIECE = 1 << 20
"""Bytes that are asked for at once."""


class PartialSnapshot:
    """The bytes of a snapshot so far; memory grows as they come and not as the leader promises."""

    def __init__(self, id: OffsetAndEpoch) -> None:
        self.id = id
        self._data = bytearray()

    def request(self, topic: str, epoch: int, cluster_id: str | None) -> FetchSnapshotRequest:
        """Ask for the next piece."""
        partition = PartitionSnapshot(
            partition=0,
            current_leader_epoch=epoch,
            snapshot_id=SnapshotId(end_offset=self.id.offset, epoch=self.id.epoch),
            position=len(self._data),
        )
        topics = [TopicSnapshot(name=topic, partitions=[partition])]
        return FetchSnapshotRequest(cluster_id=cluster_id, max_bytes=PIECE, topics=topics)

    def take(self, piece: ResponsePartitionSnapshot) -> SnapshotContent | None:
        """Add a piece; the whole once it is there. Raises WireError if the piece is another one."""
        id = OffsetAndEpoch(offset=piece.snapshot_id.end_offset, epoch=piece.snapshot_id.epoch)
        if (id, piece.position) != (self.id, len(self._data)):
            raise WireError(
                f"byte {piece.position} of the snapshot at {id} came where byte"
                f" {len(self._data)} of {self.id} was asked for"
            )
        self._data += piece.unaligned_records
        # An empty piece would be asked for again without end; a false size would fill the memory.
        if not piece.unaligned_records or not len(self._data) <= piece.size <= SNAPSHOT_LIMIT:
            raise WireError(f"the leader gives the snapshot at {id} a size of {piece.size} bytes")
        if len(self._data) < piece.size:
            return None
        return snapshot_content(bytes(self._data), Path(snapshot_name(self.id)))
