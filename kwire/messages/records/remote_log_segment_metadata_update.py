"""RemoteLogSegmentMetadataUpdateRecord, type 1 of the remote log metadata topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, RemoteLogMetadataRecord
from kwire.codec.notation import binary, field, int8, int32, int64, nullable, string, struct, uuid


class TopicIdPartitionEntry(Group):
    name: str = string
    id: UUID = uuid
    partition: int = int32


class RemoteLogSegmentIdEntry(Group):
    topic_id_partition: TopicIdPartitionEntry = struct(TopicIdPartitionEntry)
    id: UUID = uuid


class RemoteLogSegmentMetadataUpdateRecord(
    RemoteLogMetadataRecord, key=1, versions="0", flexible="0+"
):
    """A remote log segment changes its state (KIP-405)."""

    remote_log_segment_id: RemoteLogSegmentIdEntry = struct(RemoteLogSegmentIdEntry)
    broker_id: int = int32
    event_timestamp_ms: int = int64
    custom_metadata: bytes | None = field(nullable(binary), default=None)
    remote_log_segment_state: int = int8
