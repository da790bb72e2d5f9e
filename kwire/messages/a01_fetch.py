"""Fetch, API key 1."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import (
    array,
    field,
    int8,
    int16,
    int32,
    int64,
    nullable,
    records,
    since,
    string,
    tagged,
    uuid,
)


class ReplicaState(Group):
    replica_id: int = since(15, int32, default=-1)
    replica_epoch: int = since(15, int64, default=-1)


class FetchPartition(Group):
    partition: int = int32
    current_leader_epoch: int = since(9, int32, default=-1, ignorable=True)
    fetch_offset: int = int64
    last_fetched_epoch: int = since(12, int32, default=-1)
    log_start_offset: int = since(5, int64, default=-1, ignorable=True)
    partition_max_bytes: int = int32
    replica_directory_id: UUID = tagged(0, uuid, "17+", ignorable=True)
    high_watermark: int = tagged(1, int64, "18+", default=9223372036854775807, ignorable=True)


class ForgottenTopic(Group):
    topic: str = field(string, "7-12", ignorable=True)
    topic_id: UUID = since(13, uuid, ignorable=True)
    partitions: tuple[int, ...] = since(7, array(int32))


class FetchTopic(Group):
    topic: str = field(string, "0-12", ignorable=True)
    topic_id: UUID = since(13, uuid, ignorable=True)
    partitions: list[FetchPartition] = array(FetchPartition)


class FetchRequest(Request, key=1, versions="0-18", flexible="12+", listeners="broker controller"):
    """A consumer, a follower or an observer reads record batches of partitions."""

    cluster_id: str | None = tagged(0, nullable(string), "12+", default=None, ignorable=True)
    replica_id: int = field(int32, "0-14", default=-1)
    replica_state: ReplicaState | None = tagged(1, ReplicaState, "15+")
    max_wait_ms: int = int32
    min_bytes: int = int32
    max_bytes: int = since(3, int32, default=2147483647, ignorable=True)
    isolation_level: int = since(4, int8, ignorable=True)
    session_id: int = since(7, int32, ignorable=True)
    session_epoch: int = since(7, int32, default=-1, ignorable=True)
    topics: list[FetchTopic] = array(FetchTopic)
    forgotten_topics_data: list[ForgottenTopic] = since(7, array(ForgottenTopic))
    rack_id: str = since(11, string, ignorable=True)


class EpochEndOffset(Group):
    epoch: int = since(12, int32, default=-1)
    end_offset: int = since(12, int64, default=-1)


class LeaderIdAndEpoch(Group):
    leader_id: int = since(12, int32, default=-1)
    leader_epoch: int = since(12, int32, default=-1)


class SnapshotId(Group):
    end_offset: int = field(int64, default=-1)
    epoch: int = field(int32, default=-1)


class AbortedTransaction(Group):
    producer_id: int = since(4, int64)
    first_offset: int = since(4, int64)


class NodeEndpoint(Group):
    node_id: int = since(16, int32)
    host: str = since(16, string)
    port: int = since(16, int32)
    rack: str | None = since(16, nullable(string), default=None)


class PartitionData(Group):
    partition_index: int = int32
    error_code: int = int16
    high_watermark: int = int64
    last_stable_offset: int = since(4, int64, default=-1, ignorable=True)
    log_start_offset: int = since(5, int64, default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset | None = tagged(0, EpochEndOffset, "12+")
    current_leader: LeaderIdAndEpoch | None = tagged(1, LeaderIdAndEpoch, "12+")
    snapshot_id: SnapshotId | None = tagged(2, SnapshotId, "12+")
    aborted_transactions: list[AbortedTransaction] | None = since(
        4, nullable(array(AbortedTransaction)), ignorable=True
    )
    preferred_read_replica: int = since(11, int32, default=-1)
    records: bytes | None = nullable(records)


class FetchableTopicResponse(Group):
    topic: str = field(string, "0-12", ignorable=True)
    topic_id: UUID = since(13, uuid, ignorable=True)
    partitions: list[PartitionData] = array(PartitionData)


class FetchResponse(Response, key=1, versions="0-18", flexible="12+"):
    """A replica hands over record batches and says how far each partition's log reaches."""

    throttle_time_ms: int = since(1, int32, ignorable=True)
    error_code: int = since(7, int16, ignorable=True)
    session_id: int = since(7, int32)
    responses: list[FetchableTopicResponse] = array(FetchableTopicResponse)
    node_endpoints: list[NodeEndpoint] = tagged(0, array(NodeEndpoint), "16+")
