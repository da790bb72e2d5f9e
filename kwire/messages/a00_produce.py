"""Produce, API key 0."""

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
    tagged,
    uuid,
)


class PartitionProduceData(Group):
    index: int = int32
    records: bytes | None = nullable(records)


class TopicProduceData(Group):
    name: str = field(string, "0-12", ignorable=True)
    topic_id: UUID = since(13, uuid, ignorable=True)
    partition_data: list[PartitionProduceData] = array(PartitionProduceData)


class ProduceRequest(Request, key=0, versions="0-13", flexible="9+", listeners="broker"):
    """A producer appends record batches to the partitions that a broker leads."""

    transactional_id: str | None = since(3, nullable(string), default=None)
    acks: int = int16
    timeout_ms: int = int32
    topic_data: list[TopicProduceData] = array(TopicProduceData)


class BatchIndexAndErrorMessage(Group):
    batch_index: int = since(8, int32)
    batch_index_error_message: str | None = since(8, nullable(string), default=None)


class LeaderIdAndEpoch(Group):
    leader_id: int = since(10, int32, default=-1)
    leader_epoch: int = since(10, int32, default=-1)


class NodeEndpoint(Group):
    node_id: int = since(10, int32)
    host: str = since(10, string)
    port: int = since(10, int32)
    rack: str | None = since(10, nullable(string), default=None)


class PartitionProduceResponse(Group):
    index: int = int32
    error_code: int = int16
    base_offset: int = int64
    log_append_time_ms: int = since(2, int64, default=-1, ignorable=True)
    log_start_offset: int = since(5, int64, default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = since(
        8, array(BatchIndexAndErrorMessage), ignorable=True
    )
    error_message: str | None = since(8, nullable(string), default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch | None = tagged(0, LeaderIdAndEpoch, "10+")


class TopicProduceResponse(Group):
    name: str = field(string, "0-12", ignorable=True)
    topic_id: UUID = since(13, uuid, ignorable=True)
    partition_responses: list[PartitionProduceResponse] = array(PartitionProduceResponse)


class ProduceResponse(Response, key=0, versions="0-13", flexible="9+"):
    """The leader says at which offset each batch was written, or why it was not."""

    responses: list[TopicProduceResponse] = array(TopicProduceResponse)
    throttle_time_ms: int = since(1, int32, ignorable=True)
    node_endpoints: list[NodeEndpoint] = tagged(0, array(NodeEndpoint), "10+")
