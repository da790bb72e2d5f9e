"""StreamsGroupDescribe, API key 89."""

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


class StreamsGroupDescribeRequest(
    Request, key=89, versions="0-1", flexible="0+", listeners="broker"
):
    """An admin asks for topology, members and tasks of streams groups (KIP-1071)."""

    group_ids: tuple[str, ...] = array(string)
    include_authorized_operations: bool = boolean
    include_topology_description: bool = since(1, boolean)


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


class KeyValue(Group):
    key: str = string
    value: str = string


class TopologyDescriptionNode(Group):
    name: str = since(1, string)
    node_type: int = since(1, int8)
    source_topics: tuple[str, ...] = since(1, array(string))
    sink_topic: str | None = since(1, nullable(string), default=None)
    stores: tuple[str, ...] = since(1, array(string))
    successors: tuple[str, ...] = since(1, array(string))


class Assignment(Group):
    active_tasks: list[TaskIds] = array(TaskIds)
    standby_tasks: list[TaskIds] = array(TaskIds)
    warmup_tasks: list[TaskIds] = array(TaskIds)


class TopicInfo(Group):
    name: str = string
    partitions: int = int32
    replication_factor: int = int16
    topic_configs: list[KeyValue] = array(KeyValue)


class TopologyDescriptionSubtopology(Group):
    subtopology_id: str = since(1, string)
    nodes: list[TopologyDescriptionNode] = since(1, array(TopologyDescriptionNode))


class TopologyDescriptionGlobalStore(Group):
    source: TopologyDescriptionNode = since(1, struct(TopologyDescriptionNode))
    processor: TopologyDescriptionNode = since(1, struct(TopologyDescriptionNode))


class TopologyDescription(Group):
    subtopologies: list[TopologyDescriptionSubtopology] = since(
        1, array(TopologyDescriptionSubtopology)
    )
    global_stores: list[TopologyDescriptionGlobalStore] = since(
        1, array(TopologyDescriptionGlobalStore)
    )


class Subtopology(Group):
    subtopology_id: str = string
    source_topics: tuple[str, ...] = array(string)
    repartition_sink_topics: tuple[str, ...] = array(string)
    state_changelog_topics: list[TopicInfo] = array(TopicInfo)
    repartition_source_topics: list[TopicInfo] = array(TopicInfo)


class Member(Group):
    member_id: str = string
    member_epoch: int = int32
    instance_id: str | None = field(nullable(string), default=None)
    rack_id: str | None = field(nullable(string), default=None)
    client_id: str = string
    client_host: str = string
    topology_epoch: int = int32
    process_id: str = string
    user_endpoint: Endpoint | None = field(nullable(Endpoint), default=None)
    client_tags: list[KeyValue] = array(KeyValue)
    task_offsets: list[TaskOffset] = array(TaskOffset)
    task_end_offsets: list[TaskOffset] = array(TaskOffset)
    assignment: Assignment = struct(Assignment)
    target_assignment: Assignment = struct(Assignment)
    is_classic: bool = boolean


class Topology(Group):
    epoch: int = int32
    subtopologies: list[Subtopology] | None = field(nullable(array(Subtopology)), default=None)


class DescribedGroup(Group):
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    group_id: str = string
    group_state: str = string
    group_epoch: int = int32
    assignment_epoch: int = int32
    topology: Topology | None = field(nullable(Topology), default=None)
    members: list[Member] = array(Member)
    authorized_operations: int = field(int32, default=-2147483648)
    topology_description: TopologyDescription | None = since(
        1, nullable(TopologyDescription), default=None
    )
    topology_description_status: int = since(1, int8)
    assignor_name: str | None = since(1, nullable(string), default=None, ignorable=True)


class StreamsGroupDescribeResponse(Response, key=89, versions="0-1", flexible="0+"):
    """The coordinator gives topology, members and tasks of streams groups (KIP-1071)."""

    throttle_time_ms: int = int32
    groups: list[DescribedGroup] = array(DescribedGroup)
