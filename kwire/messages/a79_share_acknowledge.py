"""ShareAcknowledge, API key 79."""

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
    since,
    string,
    struct,
    uuid,
)


class AcknowledgementBatch(Group):
    first_offset: int = int64
    last_offset: int = int64
    acknowledge_types: tuple[int, ...] = array(int8)


class AcknowledgePartition(Group):
    partition_index: int = int32
    acknowledgement_batches: list[AcknowledgementBatch] = array(AcknowledgementBatch)


class AcknowledgeTopic(Group):
    topic_id: UUID = uuid
    partitions: list[AcknowledgePartition] = array(AcknowledgePartition)


class ShareAcknowledgeRequest(Request, key=79, versions="0-2", flexible="0+", listeners="broker"):
    """A share consumer settles records: accepted, released or rejected (KIP-932)."""

    group_id: str | None = field(nullable(string), default=None)
    member_id: str | None = nullable(string)
    share_session_epoch: int = int32
    is_renew_ack: bool = since(2, boolean)
    topics: list[AcknowledgeTopic] = array(AcknowledgeTopic)


class LeaderIdAndEpoch(Group):
    leader_id: int = int32
    leader_epoch: int = int32


class NodeEndpoint(Group):
    node_id: int = int32
    host: str = string
    port: int = int32
    rack: str | None = field(nullable(string), default=None)


class PartitionData(Group):
    partition_index: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch)


class ShareAcknowledgeTopicResponse(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionData] = array(PartitionData)


class ShareAcknowledgeResponse(Response, key=79, versions="0-2", flexible="0+"):
    """The leader says for each partition whether it has noted the settlement (KIP-932)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    acquisition_lock_timeout_ms: int = since(2, int32, ignorable=True)
    responses: list[ShareAcknowledgeTopicResponse] = array(ShareAcknowledgeTopicResponse)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint)
