"""ShareGroupHeartbeat, API key 76."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, nullable, string, uuid


class ShareGroupHeartbeatRequest(
    Request, key=76, versions="0-1", flexible="0+", listeners="broker"
):
    """A share consumer joins, stays in or leaves a share group (KIP-932)."""

    group_id: str = string
    member_id: str = string
    member_epoch: int = int32
    rack_id: str | None = field(nullable(string), default=None)
    subscribed_topic_names: tuple[str, ...] | None = field(nullable(array(string)), default=None)


class TopicPartitions(Group):
    topic_id: UUID = uuid
    partitions: tuple[int, ...] = array(int32)


class Assignment(Group):
    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


class ShareGroupHeartbeatResponse(Response, key=76, versions="0-1", flexible="0+"):
    """The coordinator gives a share consumer its epoch and its partitions (KIP-932)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    member_id: str | None = field(nullable(string), default=None)
    member_epoch: int = int32
    heartbeat_interval_ms: int = int32
    assignment: Assignment | None = field(nullable(Assignment), default=None)
