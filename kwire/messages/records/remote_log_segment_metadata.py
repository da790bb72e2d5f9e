"""RemoteLogSegmentMetadataRecord, type 0 of the remote log metadata topic."""

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
    string,
    struct,
    tagged,
    uuid,
)


class TopicIdPartitionEntry(Group):
    name: str = string
    id: UUID = uuid
    partition: int = int32


class SegmentLeaderEpochEntry(Group):
    leader_epoch: int = int32
    offset: int = int64


class RemoteLogSegmentIdEntry(Group):
    topic_id_partition: TopicIdPartitionEntry = struct(TopicIdPartitionEntry)
    id: UUID = uuid


class RemoteLogSegmentMetadataRecord(RemoteLogMetadataRecord, key=0, versions="0", flexible="0+"):
    """A log segment starts its way to remote storage (KIP-405)."""

    remote_log_segment_id: RemoteLogSegmentIdEntry = struct(RemoteLogSegmentIdEntry)
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
