"""ConsumerGroupCurrentMemberAssignment, a record of a coordinator's topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int8, int32, nullable, string, tagged, uuid


class ConsumerGroupCurrentMemberAssignmentKey(CoordinatorKey, key=8, versions="0,8"):
    """Keys a consumer's present partitions by group and member id (KIP-848)."""

    group_id: str = string
    member_id: str = string


class TopicPartitions(Group):
    topic_id: UUID = uuid
    partitions: tuple[int, ...] = array(int32)
    assignment_epochs: tuple[int, ...] | None = tagged(0, nullable(array(int32)))


class ConsumerGroupCurrentMemberAssignmentValue(
    CoordinatorValue, key=8, versions="0", flexible="0+"
):
    """Holds the partitions a consumer has now and those it must give up (KIP-848)."""

    member_epoch: int = int32
    previous_member_epoch: int = int32
    state: int = int8
    assigned_partitions: list[TopicPartitions] = array(TopicPartitions)
    partitions_pending_revocation: list[TopicPartitions] = array(TopicPartitions)
