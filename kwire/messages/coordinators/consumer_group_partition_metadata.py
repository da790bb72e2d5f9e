"""ConsumerGroupPartitionMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int32, string, uuid


class ConsumerGroupPartitionMetadataKey(CoordinatorKey, key=4, versions="0,4"):
    """Keys the topics that a consumer group reads by the group's id (KIP-848)."""

    group_id: str = string


class PartitionMetadata(Group):
    partition: int = int32
    racks: tuple[str, ...] = array(string)


class TopicMetadata(Group):
    topic_id: UUID = uuid
    topic_name: str = string
    num_partitions: int = int32
    partition_metadata: list[PartitionMetadata] = array(PartitionMetadata)


class ConsumerGroupPartitionMetadataValue(CoordinatorValue, key=4, versions="0", flexible="0+"):
    """Holds sizes of a consumer group's topics; a hash replaces it in 4.1 (KIP-848)."""

    topics: list[TopicMetadata] = array(TopicMetadata)
