"""ConsumerGroupTargetAssignmentMember, a record of a coordinator's topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int32, string, uuid


class ConsumerGroupTargetAssignmentMemberKey(CoordinatorKey, key=7, versions="0,7"):
    """Keys a consumer's target assignment by group and member id (KIP-848)."""

    group_id: str = string
    member_id: str = string


class TopicPartition(Group):
    topic_id: UUID = uuid
    partitions: tuple[int, ...] = array(int32)


class ConsumerGroupTargetAssignmentMemberValue(
    CoordinatorValue, key=7, versions="0", flexible="0+"
):
    """Holds the partitions that a consumer shall end up with (KIP-848)."""

    topic_partitions: list[TopicPartition] = array(TopicPartition)
