"""DescribeProducers, API key 61."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, int64, nullable, string


class TopicRequest(Group):
    name: str = string
    partition_indexes: tuple[int, ...] = array(int32)


class DescribeProducersRequest(Request, key=61, versions="0", flexible="0+", listeners="broker"):
    """An admin asks which producers are active on partitions (KIP-664)."""

    topics: list[TopicRequest] = array(TopicRequest)


class ProducerState(Group):
    producer_id: int = int64
    producer_epoch: int = int32
    last_sequence: int = field(int32, default=-1)
    last_timestamp: int = field(int64, default=-1)
    coordinator_epoch: int = int32
    current_txn_start_offset: int = field(int64, default=-1)


class PartitionResponse(Group):
    partition_index: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    active_producers: list[ProducerState] = array(ProducerState)


class TopicResponse(Group):
    name: str = string
    partitions: list[PartitionResponse] = array(PartitionResponse)


class DescribeProducersResponse(Response, key=61, versions="0", flexible="0+"):
    """A replica gives each producer's epoch, sequence and open transaction (KIP-664)."""

    throttle_time_ms: int = int32
    topics: list[TopicResponse] = array(TopicResponse)
