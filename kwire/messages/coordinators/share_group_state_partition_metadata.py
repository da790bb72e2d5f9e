"""ShareGroupStatePartitionMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int32, string, uuid


class ShareGroupStatePartitionMetadataKey(CoordinatorKey, key=15, versions="0"):
    """Keys the topics with share state by the group's id (KIP-932)."""

    group_id: str = string


class TopicPartitionsInfo(Group):
    topic_id: UUID = uuid
    topic_name: str = string
    partitions: tuple[int, ...] = array(int32)


class TopicInfo(Group):
    topic_id: UUID = uuid
    topic_name: str = string


class ShareGroupStatePartitionMetadataValue(CoordinatorValue, key=15, versions="0", flexible="0+"):
    """Holds which topics have share state, gain it or lose it (KIP-932)."""

    initializing_topics: list[TopicPartitionsInfo] = array(TopicPartitionsInfo)
    initialized_topics: list[TopicPartitionsInfo] = array(TopicPartitionsInfo)
    deleting_topics: list[TopicInfo] = array(TopicInfo)
