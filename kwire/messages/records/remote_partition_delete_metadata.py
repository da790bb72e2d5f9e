"""RemotePartitionDeleteMetadataRecord, type 2 of the remote log metadata topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, RemoteLogMetadataRecord
from kwire.codec.notation import int8, int32, int64, string, struct, uuid


class TopicIdPartitionEntry(Group):
    name: str = string
    id: UUID = uuid
    partition: int = int32


class RemotePartitionDeleteMetadataRecord(
    RemoteLogMetadataRecord, key=2, versions="0", flexible="0+"
):
    """The deletion of a partition in remote storage moves on a stage (KIP-405)."""

    topic_id_partition: TopicIdPartitionEntry = struct(TopicIdPartitionEntry)
    broker_id: int = int32
    event_timestamp_ms: int = int64
    remote_partition_delete_state: int = int8
