"""ConsumerGroupHeartbeat, API key 68."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, nullable, since, string, uuid


class TopicPartitions(Group):
    topic_id: UUID = uuid
    partitions: tuple[int, ...] = array(int32)


class ConsumerGroupHeartbeatRequest(
    Request, key=68, versions="0-1", flexible="0+", listeners="broker"
):
    """A consumer joins, stays in or leaves a group whose coordinator assigns (KIP-848)."""

    group_id: str = string
    member_id: str = string
    member_epoch: int = int32
    instance_id: str | None = field(nullable(string), default=None)
    rack_id: str | None = field(nullable(string), default=None)
    rebalance_timeout_ms: int = field(int32, default=-1)
    subscribed_topic_names: tuple[str, ...] | None = field(nullable(array(string)), default=None)
    subscribed_topic_regex: str | None = since(1, nullable(string), default=None)
    server_assignor: str | None = field(nullable(string), default=None)
    topic_partitions: list[TopicPartitions] | None = field(
        nullable(array(TopicPartitions)), default=None
    )


class Assignment(Group):
    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


class ConsumerGroupHeartbeatResponse(Response, key=68, versions="0-1", flexible="0+"):
    """The coordinator gives a member its epoch and the partitions it is to own (KIP-848)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    member_id: str | None = field(nullable(string), default=None)
    member_epoch: int = int32
    heartbeat_interval_ms: int = int32
    assignment: Assignment | None = field(nullable(Assignment), default=None)
