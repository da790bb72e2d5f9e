"""FetchSnapshot, API key 59."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import (
    array,
    field,
    int16,
    int32,
    int64,
    nullable,
    records,
    since,
    string,
    struct,
    tagged,
    uint16,
    uuid,
)


class SnapshotId(Group):
    end_offset: int = int64
    epoch: int = int32


class PartitionSnapshot(Group):
    partition: int = int32
    current_leader_epoch: int = int32
    snapshot_id: SnapshotId = struct(SnapshotId)
    position: int = int64
    replica_directory_id: UUID = tagged(0, uuid, "1+", ignorable=True)


class TopicSnapshot(Group):
    name: str = string
    partitions: list[PartitionSnapshot] = array(PartitionSnapshot)


class FetchSnapshotRequest(Request, key=59, versions="0-1", flexible="0+", listeners="controller"):
    """A replica too far behind the log downloads a piece of a snapshot (KIP-630)."""

    cluster_id: str | None = tagged(0, nullable(string), default=None)
    replica_id: int = field(int32, default=-1)
    max_bytes: int = field(int32, default=2147483647)
    topics: list[TopicSnapshot] = array(TopicSnapshot)


class LeaderIdAndEpoch(Group):
    leader_id: int = int32
    leader_epoch: int = int32


class NodeEndpoint(Group):
    node_id: int = since(1, int32)
    host: str = since(1, string)
    port: int = since(1, uint16)


class ResponsePartitionSnapshot(Group):
    index: int = int32
    error_code: int = int16
    snapshot_id: SnapshotId = struct(SnapshotId)
    current_leader: LeaderIdAndEpoch | None = tagged(0, LeaderIdAndEpoch)
    size: int = int64
    position: int = int64
    unaligned_records: bytes = records


class ResponseTopicSnapshot(Group):
    name: str = string
    partitions: list[ResponsePartitionSnapshot] = array(ResponsePartitionSnapshot)


class FetchSnapshotResponse(Response, key=59, versions="0-1", flexible="0+"):
    """The leader sends a piece of the snapshot, with its position and total size (KIP-630)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    topics: list[ResponseTopicSnapshot] = array(ResponseTopicSnapshot)
    node_endpoints: list[NodeEndpoint] = tagged(0, array(NodeEndpoint), "1+")
