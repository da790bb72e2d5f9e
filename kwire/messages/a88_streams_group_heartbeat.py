"""StreamsGroupHeartbeat, API key 88."""

from __future__ import annotations

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
    uint16,
)


class KeyValue(Group):
    key: str = string
    value: str = string


class Endpoint(Group):
    host: str = string
    port: int = uint16


class TaskOffset(Group):
    subtopology_id: str = string
    partition: int = int32
    offset: int = int64


class TaskIds(Group):
    subtopology_id: str = string
    partitions: tuple[int, ...] = array(int32)


class CopartitionGroup(Group):
    source_topics: tuple[int, ...] = array(int16)
    source_topic_regex: tuple[int, ...] = array(int16)
    repartition_source_topics: tuple[int, ...] = array(int16)


class TopicInfo(Group):
    name: str = string
    partitions: int = int32
    replication_factor: int = int16
    topic_configs: list[KeyValue] = array(KeyValue)


class Subtopology(Group):
    subtopology_id: str = string
    source_topics: tuple[str, ...] = array(string)
    source_topic_regex: tuple[str, ...] = array(string)
    state_changelog_topics: list[TopicInfo] = array(TopicInfo)
    repartition_sink_topics: tuple[str, ...] = array(string)
    repartition_source_topics: list[TopicInfo] = array(TopicInfo)
    copartition_groups: list[CopartitionGroup] = array(CopartitionGroup)


class Topology(Group):
    epoch: int = int32
    subtopologies: list[Subtopology] = array(Subtopology)


class StreamsGroupHeartbeatRequest(
    Request, key=88, versions="0-1", flexible="0+", listeners="broker"
):
    """A Kafka Streams member joins, stays in or leaves its streams group (KIP-1071)."""

    group_id: str = string
    member_id: str = string
    member_epoch: int = int32
    endpoint_information_epoch: int = int32
    instance_id: str | None = field(nullable(string), default=None)
    rack_id: str | None = field(nullable(string), default=None)
    rebalance_timeout_ms: int = field(int32, default=-1)
    topology: Topology | None = field(nullable(Topology), default=None)
    active_tasks: list[TaskIds] | None = field(nullable(array(TaskIds)), default=None)
    standby_tasks: list[TaskIds] | None = field(nullable(array(TaskIds)), default=None)
    warmup_tasks: list[TaskIds] | None = field(nullable(array(TaskIds)), default=None)
    process_id: str | None = field(nullable(string), default=None)
    user_endpoint: Endpoint | None = field(nullable(Endpoint), default=None)
    client_tags: list[KeyValue] | None = field(nullable(array(KeyValue)), default=None)
    task_offsets: list[TaskOffset] | None = field(nullable(array(TaskOffset)), default=None)
    task_end_offsets: list[TaskOffset] | None = field(nullable(array(TaskOffset)), default=None)
    shutdown_application: bool = boolean


class Status(Group):
    status_code: int = int8
    status_detail: str = string


class TopicPartition(Group):
    topic: str = string
    partitions: tuple[int, ...] = array(int32)


class EndpointToPartitions(Group):
    user_endpoint: Endpoint = struct(Endpoint)
    active_partitions: list[TopicPartition] = array(TopicPartition)
    standby_partitions: list[TopicPartition] = array(TopicPartition)


class StreamsGroupHeartbeatResponse(Response, key=88, versions="0-1", flexible="0+"):
    """The coordinator gives a Streams member its epoch, tasks and warnings (KIP-1071)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    member_id: str = string
    member_epoch: int = int32
    heartbeat_interval_ms: int = int32
    acceptable_recovery_lag_legacy: int = field(int32, "0")
    task_offset_interval_ms: int = int32
    acceptable_recovery_lag: int = since(1, int64, default=-1, ignorable=True)
    status: list[Status] | None = nullable(array(Status))
    active_tasks: list[TaskIds] | None = field(nullable(array(TaskIds)), default=None)
    standby_tasks: list[TaskIds] | None = field(nullable(array(TaskIds)), default=None)
    warmup_tasks: list[TaskIds] | None = field(nullable(array(TaskIds)), default=None)
    topology_description_required: bool = since(1, boolean)
    endpoint_information_epoch: int = int32
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = field(
        nullable(array(EndpointToPartitions)), default=None
    )
