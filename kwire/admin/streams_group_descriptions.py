"""Streams groups as their coordinators describe them (KIP-1071).

Java: StreamsGroupDescription, StreamsGroupMemberDescription, StreamsGroupSubtopologyDescription.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kwire.admin.cluster_description import ClusterNode
from kwire.admin.group_descriptions import GroupDescription, GroupType, operations_of
from kwire.messages import a89_streams_group_describe as wire
from kwire.net.address import Address


@dataclass(frozen=True, slots=True, order=True)
class StreamsTask:
    """A subtopology's share of one partition; `0_3` in the logs of Kafka Streams."""

    subtopology_id: str
    partition: int

    def __str__(self) -> str:
        return f"{self.subtopology_id}_{self.partition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsTasks:
    """The tasks of one member: those it runs, and those whose state it keeps or restores."""

    active: tuple[StreamsTask, ...] = ()
    standby: tuple[StreamsTask, ...] = ()
    warmup: tuple[StreamsTask, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalTopicDescription:
    """A topic that Kafka Streams makes for itself. partitions: 0 if derived from its sources."""

    name: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsGroupSubtopologyDescription:
    """A part of the topology whose tasks run by themselves, and the topics it reads and writes."""

    subtopology_id: str
    source_topics: tuple[str, ...]
    repartition_sink_topics: tuple[str, ...]
    state_changelog_topics: tuple[InternalTopicDescription, ...]
    repartition_source_topics: tuple[InternalTopicDescription, ...]

    @property
    def topics_read(self) -> tuple[str, ...]:
        """The topics whose offsets its tasks commit: sources and repartition topics."""
        return *self.source_topics, *(topic.name for topic in self.repartition_source_topics)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsGroupMemberDescription:
    """A member of a streams group: one thread's client inside the process `process_id`.

    user_endpoint: the application.server for interactive queries. is_classic: True if the member
    speaks the classic protocol. task_offsets, task_end_offsets: as far as the member reports them.
    """

    member_id: str
    client_id: str
    host: str
    member_epoch: int
    topology_epoch: int
    process_id: str
    assignment: StreamsTasks
    target_assignment: StreamsTasks
    group_instance_id: str | None = None
    rack_id: str | None = None
    user_endpoint: Address | None = None
    client_tags: Mapping[str, str]
    task_offsets: Mapping[StreamsTask, int]
    task_end_offsets: Mapping[StreamsTask, int]
    is_classic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsGroupDescription(GroupDescription):
    """A streams group: topology, members and their tasks.

    partition_assignor, topology_epoch: None if the coordinator does not say.
    """

    group_epoch: int
    target_assignment_epoch: int
    topology_epoch: int | None
    partition_assignor: str | None
    subtopologies: tuple[StreamsGroupSubtopologyDescription, ...]
    members: tuple[StreamsGroupMemberDescription, ...]


def streams_group(
    group: wire.DescribedGroup, coordinator: ClusterNode | None
) -> StreamsGroupDescription:
    """Return a group of StreamsGroupDescribe."""
    topology = group.topology
    return StreamsGroupDescription(
        group_id=group.group_id,
        type=GroupType.STREAMS,
        group_state=group.group_state,
        coordinator=coordinator,
        authorized_operations=operations_of(group.authorized_operations),
        group_epoch=group.group_epoch,
        target_assignment_epoch=group.assignment_epoch,
        topology_epoch=topology.epoch if topology else None,
        partition_assignor=group.assignor_name,
        subtopologies=tuple(map(_subtopology, (topology.subtopologies or ()) if topology else ())),
        members=tuple(map(_member, group.members)),
    )


def _subtopology(subtopology: wire.Subtopology) -> StreamsGroupSubtopologyDescription:
    return StreamsGroupSubtopologyDescription(
        subtopology_id=subtopology.subtopology_id,
        source_topics=tuple(subtopology.source_topics),
        repartition_sink_topics=tuple(subtopology.repartition_sink_topics),
        state_changelog_topics=tuple(map(_internal_topic, subtopology.state_changelog_topics)),
        repartition_source_topics=tuple(
            map(_internal_topic, subtopology.repartition_source_topics)
        ),
    )


def _internal_topic(topic: wire.TopicInfo) -> InternalTopicDescription:
    return InternalTopicDescription(
        name=topic.name,
        partitions=topic.partitions,
        replication_factor=topic.replication_factor,
        configs={config.key: config.value for config in topic.topic_configs},
    )


def _member(member: wire.Member) -> StreamsGroupMemberDescription:
    endpoint = member.user_endpoint
    return StreamsGroupMemberDescription(
        member_id=member.member_id,
        client_id=member.client_id,
        host=member.client_host,
        member_epoch=member.member_epoch,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        assignment=_assignment(member.assignment),
        target_assignment=_assignment(member.target_assignment),
        group_instance_id=member.instance_id,
        rack_id=member.rack_id,
        user_endpoint=Address(endpoint.host, endpoint.port) if endpoint else None,
        client_tags={tag.key: tag.value for tag in member.client_tags},
        task_offsets=_offsets(member.task_offsets),
        task_end_offsets=_offsets(member.task_end_offsets),
        is_classic=member.is_classic,
    )


def _assignment(assignment: wire.Assignment) -> StreamsTasks:
    return StreamsTasks(
        active=_tasks(assignment.active_tasks),
        standby=_tasks(assignment.standby_tasks),
        warmup=_tasks(assignment.warmup_tasks),
    )


def _tasks(task_ids: Iterable[wire.TaskIds]) -> tuple[StreamsTask, ...]:
    return tuple(
        sorted(
            StreamsTask(ids.subtopology_id, partition)
            for ids in task_ids
            for partition in ids.partitions
        )
    )


def _offsets(offsets: Iterable[wire.TaskOffset]) -> dict[StreamsTask, int]:
    return {StreamsTask(task.subtopology_id, task.partition): task.offset for task in offsets}
