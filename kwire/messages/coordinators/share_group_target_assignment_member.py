"""ShareGroupTargetAssignmentMember, a record of a coordinator's topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int32, string, uuid


class ShareGroupTargetAssignmentMemberKey(CoordinatorKey, key=13, versions="0"):
    """Keys a share consumer's target assignment by group and member id (KIP-932)."""

    group_id: str = string
    member_id: str = string


class TopicPartition(Group):
    topic_id: UUID = uuid
    partitions: tuple[int, ...] = array(int32)


class ShareGroupTargetAssignmentMemberValue(CoordinatorValue, key=13, versions="0", flexible="0+"):
    """Holds the partitions that a share consumer shall end up with (KIP-932)."""

    topic_partitions: list[TopicPartition] = array(TopicPartition)
