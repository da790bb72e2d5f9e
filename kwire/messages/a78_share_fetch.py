"""ShareFetch, API key 78."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import (
    array,
    boolean,
    field,
    int8,
    int16,
    int32,
    int64,
    nullable,
    records,
    since,
    string,
    struct,
    uuid,
)


class AcknowledgementBatch(Group):
    first_offset: int = int64
    last_offset: int = int64
    acknowledge_types: tuple[int, ...] = array(int8)


class ForgottenTopic(Group):
    topic_id: UUID = uuid
    partitions: tuple[int, ...] = array(int32)


class FetchPartition(Group):
    partition_index: int = int32
    partition_max_bytes: int = field(int32, "0")
    acknowledgement_batches: list[AcknowledgementBatch] = array(AcknowledgementBatch)


class FetchTopic(Group):
    topic_id: UUID = uuid
    partitions: list[FetchPartition] = array(FetchPartition)


class ShareFetchRequest(Request, key=78, versions="0-2", flexible="0+", listeners="broker"):
    """A share consumer acquires records and may settle earlier ones on the way (KIP-932)."""

    group_id: str | None = field(nullable(string), default=None)
    member_id: str | None = nullable(string)
    share_session_epoch: int = int32
    max_wait_ms: int = int32
    min_bytes: int = int32
    max_bytes: int = field(int32, default=2147483647)
    max_records: int = since(1, int32)
    batch_size: int = since(1, int32)
    share_acquire_mode: int = since(2, int8, ignorable=True)
    is_renew_ack: bool = since(2, boolean)
    topics: list[FetchTopic] = array(FetchTopic)
    forgotten_topics_data: list[ForgottenTopic] = array(ForgottenTopic)


class LeaderIdAndEpoch(Group):
    leader_id: int = int32
    leader_epoch: int = int32


class AcquiredRecords(Group):
    first_offset: int = int64
    last_offset: int = int64
    delivery_count: int = int16


class NodeEndpoint(Group):
    node_id: int = int32
    host: str = string
    port: int = int32
    rack: str | None = field(nullable(string), default=None)


class PartitionData(Group):
    partition_index: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    acknowledge_error_code: int = int16
    acknowledge_error_message: str | None = field(nullable(string), default=None)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch)
    records: bytes | None = nullable(records, "0")
    acquired_records: list[AcquiredRecords] = array(AcquiredRecords)


class ShareFetchableTopicResponse(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionData] = array(PartitionData)


class ShareFetchResponse(Response, key=78, versions="0-2", flexible="0+"):
    """The leader hands over records with the offsets the consumer has acquired (KIP-932)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    acquisition_lock_timeout_ms: int = since(1, int32)
    responses: list[ShareFetchableTopicResponse] = array(ShareFetchableTopicResponse)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint)
