"""RemoteLogSegmentMetadataSnapshotRecord, type 3 of the remote log metadata topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, RemoteLogMetadataRecord
from kwire.codec.notation import (
    array,
    binary,
    boolean,
    field,
    int8,
    int32,
    int64,
    nullable,
    tagged,
    uuid,
)


class SegmentLeaderEpochEntry(Group):
    leader_epoch: int = int32
    offset: int = int64


class RemoteLogSegmentMetadataSnapshotRecord(
    RemoteLogMetadataRecord, key=3, versions="0", flexible="0+"
):
    """A broker keeps what it knows of a remote segment in a local file (KIP-405)."""

    segment_id: UUID = uuid
    start_offset: int = int64
    end_offset: int = int64
    broker_id: int = int32
    max_timestamp_ms: int = int64
    event_timestamp_ms: int = int64
    segment_leader_epochs: list[SegmentLeaderEpochEntry] = array(SegmentLeaderEpochEntry)
    segment_size_in_bytes: int = int32
    custom_metadata: bytes | None = field(nullable(binary), default=None)
    remote_log_segment_state: int = int8
    txn_index_empty: bool = tagged(0, boolean)
