"""DescribeTopicPartitions, API key 75."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, field, int16, int32, nullable, string, uuid


class TopicRequest(Group):
    name: str = string


class Cursor(Group):
    topic_name: str = string
    partition_index: int = int32


class DescribeTopicPartitionsRequest(
    Request, key=75, versions="0", flexible="0+", listeners="broker"
):
    """A client pages through topics with their partitions and leaders (KIP-966)."""

    topics: list[TopicRequest] = array(TopicRequest)
    response_partition_limit: int = field(int32, default=2000)
    cursor: Cursor | None = field(nullable(Cursor), default=None)


class DescribeTopicPartitionsResponsePartition(Group):
    error_code: int = int16
    partition_index: int = int32
    leader_id: int = int32
    leader_epoch: int = field(int32, default=-1)
    replica_nodes: tuple[int, ...] = array(int32)
    isr_nodes: tuple[int, ...] = array(int32)
    eligible_leader_replicas: tuple[int, ...] | None = field(nullable(array(int32)), default=None)
    last_known_elr: tuple[int, ...] | None = field(nullable(array(int32)), default=None)
    offline_replicas: tuple[int, ...] = array(int32)


class DescribeTopicPartitionsResponseTopic(Group):
    error_code: int = int16
    name: str | None = nullable(string)
    topic_id: UUID = uuid
    is_internal: bool = boolean
    partitions: list[DescribeTopicPartitionsResponsePartition] = array(
        DescribeTopicPartitionsResponsePartition
    )
    topic_authorized_operations: int = field(int32, default=-2147483648)


class DescribeTopicPartitionsResponse(Response, key=75, versions="0", flexible="0+"):
    """A broker gives a page of partitions, with ELR, and a cursor to the next (KIP-966)."""

    throttle_time_ms: int = int32
    topics: list[DescribeTopicPartitionsResponseTopic] = array(DescribeTopicPartitionsResponseTopic)
    next_cursor: Cursor | None = field(nullable(Cursor), default=None)
