"""ConsumerGroupDescribe, API key 69."""

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
    nullable,
    since,
    string,
    struct,
    uuid,
)


class ConsumerGroupDescribeRequest(
    Request, key=69, versions="0-1", flexible="0+", listeners="broker"
):
    """An admin asks for the members and assignments of consumer groups (KIP-848)."""

    group_ids: tuple[str, ...] = array(string)
    include_authorized_operations: bool = boolean


class TopicPartitions(Group):
    topic_id: UUID = uuid
    topic_name: str = string
    partitions: tuple[int, ...] = array(int32)


class Assignment(Group):
    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


class Member(Group):
    member_id: str = string
    instance_id: str | None = field(nullable(string), default=None)
    rack_id: str | None = field(nullable(string), default=None)
    member_epoch: int = int32
    client_id: str = string
    client_host: str = string
    subscribed_topic_names: tuple[str, ...] = array(string)
    subscribed_topic_regex: str | None = field(nullable(string), default=None)
    assignment: Assignment = struct(Assignment)
    target_assignment: Assignment = struct(Assignment)
    member_type: int = since(1, int8, default=-1, ignorable=True)


class DescribedGroup(Group):
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    group_id: str = string
    group_state: str = string
    group_epoch: int = int32
    assignment_epoch: int = int32
    assignor_name: str = string
    members: list[Member] = array(Member)
    authorized_operations: int = field(int32, default=-2147483648)


class ConsumerGroupDescribeResponse(Response, key=69, versions="0-1", flexible="0+"):
    """The coordinator gives epochs, members and assignments of consumer groups (KIP-848)."""

    throttle_time_ms: int = int32
    groups: list[DescribedGroup] = array(DescribedGroup)
