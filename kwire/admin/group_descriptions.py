"""Groups as their coordinators describe them: classic, consumer (KIP-848) and share (KIP-932).

Java: ClassicGroupDescription, ConsumerGroupDescription, ShareGroupDescription, MemberDescription.
Streams groups are in streams_group_descriptions.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kwire.admin.cluster_description import ClusterNode
from kwire.admin.topic_partition import TopicPartition
from kwire.errors import WireError
from kwire.messages import a15_describe_groups as classic
from kwire.messages import a69_consumer_group_describe as consumer
from kwire.messages import a77_share_group_describe as share
from kwire.messages.data.consumer_protocol_assignment import ConsumerProtocolAssignment

CONSUMER_PROTOCOL = "consumer"
"""The protocol type of classic groups whose members are consumers (ConsumerProtocol.java)."""

_OPERATIONS_OMITTED = -(2**31)
_CLASSIC_MEMBER = 0
_CONSUMER_MEMBER = 1
_VERSION_SIZE = 2


class GroupType(StrEnum):
    """The types of groups that Kafka 4.4 has; one that is not here is passed on as text."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescription:
    """The facts that groups of every type have.

    type: one of GroupType, or a later one. group_state: Kafka's word, `Stable` or `Empty`.
    coordinator: the broker that answered; None if the cluster does not list it.
    authorized_operations: a bit for each AclOperation code; None if they were not asked for.
    """

    group_id: str
    type: str
    group_state: str
    coordinator: ClusterNode | None = None
    authorized_operations: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberDescription:
    """A member of a classic or a consumer group.

    assignment: None if it is not in the format of consumers, as that of Kafka Connect.
    target_assignment, member_epoch, rack_id: of consumer groups, else None.
    upgraded: True if the member speaks the protocol of KIP-848, False if the classic one inside a
    consumer group; None if the coordinator does not say.
    """

    member_id: str
    client_id: str
    host: str
    group_instance_id: str | None = None
    assignment: tuple[TopicPartition, ...] | None = None
    target_assignment: tuple[TopicPartition, ...] | None = None
    member_epoch: int | None = None
    rack_id: str | None = None
    upgraded: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicGroupDescription(GroupDescription):
    """A group of the classic protocol: consumers, Kafka Connect, or anything else.

    protocol: its protocol type; "" if it only holds offsets. protocol_data: what the members
    agreed on, with consumers the assignor; "" while they have not.
    """

    protocol: str
    protocol_data: str
    members: tuple[MemberDescription, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupDescription(GroupDescription):
    """A group of consumers, whichever protocol it speaks: `type` says which.

    is_simple_consumer_group: True if it only holds offsets, committed without a protocol.
    group_epoch, target_assignment_epoch: None of a classic group.
    """

    is_simple_consumer_group: bool
    partition_assignor: str
    members: tuple[MemberDescription, ...]
    group_epoch: int | None = None
    target_assignment_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareMemberDescription:
    """A member of a share group."""

    member_id: str
    client_id: str
    host: str
    member_epoch: int
    rack_id: str | None
    assignment: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareGroupDescription(GroupDescription):
    """A share group: its members read the same partitions together (KIP-932)."""

    partition_assignor: str
    group_epoch: int
    target_assignment_epoch: int
    members: tuple[ShareMemberDescription, ...]


def operations_of(bits: int) -> int | None:
    """Return the bits of authorized operations; None for the number that says: not asked for."""
    return None if bits == _OPERATIONS_OMITTED else bits


def classic_group(
    group: classic.DescribedGroup, coordinator: ClusterNode | None
) -> ClassicGroupDescription:
    """Return a group of DescribeGroups."""
    return ClassicGroupDescription(
        group_id=group.group_id,
        type=GroupType.CLASSIC,
        group_state=group.group_state,
        coordinator=coordinator,
        authorized_operations=operations_of(group.authorized_operations),
        protocol=group.protocol_type,
        protocol_data=group.protocol_data,
        members=_classic_members(group),
    )


def classic_consumer_group(
    group: classic.DescribedGroup, coordinator: ClusterNode | None
) -> ConsumerGroupDescription:
    """Return a group of consumers of DescribeGroups, as the older protocol knows it."""
    return ConsumerGroupDescription(
        group_id=group.group_id,
        type=GroupType.CLASSIC,
        group_state=group.group_state,
        coordinator=coordinator,
        authorized_operations=operations_of(group.authorized_operations),
        is_simple_consumer_group=not group.protocol_type,
        partition_assignor=group.protocol_data,
        members=_classic_members(group),
    )


def consumer_group(
    group: consumer.DescribedGroup, coordinator: ClusterNode | None
) -> ConsumerGroupDescription:
    """Return a group of ConsumerGroupDescribe."""
    return ConsumerGroupDescription(
        group_id=group.group_id,
        type=GroupType.CONSUMER,
        group_state=group.group_state,
        coordinator=coordinator,
        authorized_operations=operations_of(group.authorized_operations),
        is_simple_consumer_group=False,
        partition_assignor=group.assignor_name,
        group_epoch=group.group_epoch,
        target_assignment_epoch=group.assignment_epoch,
        members=tuple(map(_consumer_member, group.members)),
    )


def share_group(
    group: share.DescribedGroup, coordinator: ClusterNode | None
) -> ShareGroupDescription:
    """Return a group of ShareGroupDescribe."""
    return ShareGroupDescription(
        group_id=group.group_id,
        type=GroupType.SHARE,
        group_state=group.group_state,
        coordinator=coordinator,
        authorized_operations=operations_of(group.authorized_operations),
        partition_assignor=group.assignor_name,
        group_epoch=group.group_epoch,
        target_assignment_epoch=group.assignment_epoch,
        members=tuple(
            ShareMemberDescription(
                member_id=member.member_id,
                client_id=member.client_id,
                host=member.client_host,
                member_epoch=member.member_epoch,
                rack_id=member.rack_id,
                assignment=_partitions(member.assignment.topic_partitions),
            )
            for member in group.members
        ),
    )


def _classic_members(group: classic.DescribedGroup) -> tuple[MemberDescription, ...]:
    consumers = group.protocol_type == CONSUMER_PROTOCOL
    return tuple(
        MemberDescription(
            member_id=member.member_id,
            client_id=member.client_id,
            host=member.client_host,
            group_instance_id=member.group_instance_id,
            assignment=assigned_partitions(member.member_assignment) if consumers else None,
        )
        for member in group.members
    )


def _consumer_member(member: consumer.Member) -> MemberDescription:
    types = {_CLASSIC_MEMBER: False, _CONSUMER_MEMBER: True}
    return MemberDescription(
        member_id=member.member_id,
        client_id=member.client_id,
        host=member.client_host,
        group_instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        assignment=_partitions(member.assignment.topic_partitions),
        target_assignment=_partitions(member.target_assignment.topic_partitions),
        upgraded=types.get(member.member_type),
    )


def assigned_partitions(assignment: bytes) -> tuple[TopicPartition, ...] | None:
    """Return the partitions in the bytes that a group's leader wrote for a consumer.

    No bytes: none yet. Bytes of a later version are read as the highest one that is known, as
    Java's ConsumerProtocol does; None if they make no sense: any client may write them.
    """
    if not assignment:
        return ()
    version = int.from_bytes(assignment[:_VERSION_SIZE], "big", signed=True)
    known = ConsumerProtocolAssignment.versions
    try:
        decoded, _ = ConsumerProtocolAssignment.decode_from(
            assignment, min(max(version, known.first), known.last), _VERSION_SIZE
        )
    except WireError:
        return None
    return tuple(
        sorted(
            TopicPartition(topic.topic, partition)
            for topic in decoded.assigned_partitions
            for partition in topic.partitions
        )
    )


class _AssignedTopic(Protocol):
    topic_name: str
    partitions: tuple[int, ...]


def _partitions(topics: Iterable[_AssignedTopic]) -> tuple[TopicPartition, ...]:
    return tuple(
        sorted(
            TopicPartition(topic.topic_name, partition)
            for topic in topics
            for partition in topic.partitions
        )
    )
