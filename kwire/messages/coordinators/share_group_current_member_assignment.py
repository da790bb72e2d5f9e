"""ShareGroupCurrentMemberAssignment, a record of a coordinator's topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int8, int32, string, uuid


class ShareGroupCurrentMemberAssignmentKey(CoordinatorKey, key=14, versions="0"):
    """Keys a share consumer's present partitions by group and member id (KIP-932)."""

    group_id: str = string
    member_id: str = string


class TopicPartitions(Group):
    topic_id: UUID = uuid
    partitions: tuple[int, ...] = array(int32)


class ShareGroupCurrentMemberAssignmentValue(CoordinatorValue, key=14, versions="0", flexible="0+"):
    """Holds the partitions a share consumer has now and its epochs (KIP-932)."""

    member_epoch: int = int32
    previous_member_epoch: int = int32
    state: int = int8
    assigned_partitions: list[TopicPartitions] = array(TopicPartitions)
