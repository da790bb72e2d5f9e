"""ShareGroupPartitionMetadataValue."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Data, Group
from kwire.codec.notation import array, int32, string, uuid


class TopicPartitionsInfo(Group):
    topic_id: UUID = uuid
    topic_name: str = string
    partitions: tuple[int, ...] = array(int32)


class TopicInfo(Group):
    topic_id: UUID = uuid
    topic_name: str = string


class ShareGroupPartitionMetadataValue(Data, versions="0", flexible="0+"):
    """Holds the topics with share state or losing it, in 3.9's early access (KIP-932)."""

    initialized_topics: list[TopicPartitionsInfo] = array(TopicPartitionsInfo)
    deleting_topics: list[TopicInfo] = array(TopicInfo)
