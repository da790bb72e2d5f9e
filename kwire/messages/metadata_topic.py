"""The topic of the cluster metadata log (KIP-595; Java: Topic.CLUSTER_METADATA_TOPIC_PARTITION)."""

from __future__ import annotations

from uuid import UUID

from kwire.messages.a01_fetch import FetchResponse, PartitionData

METADATA_TOPIC = "__cluster_metadata"

METADATA_PARTITION = 0
"""The only partition of the topic: KRaft replicates one log."""

METADATA_TOPIC_ID = UUID(int=1)
"""The fixed id of the topic (Java: Uuid.METADATA_TOPIC_ID)."""


def is_metadata_topic(name: str | None, topic_id: UUID | None) -> bool:
    """True if this is the topic, by name, or by id as in Fetch since version 13 (KIP-516)."""
    return name == METADATA_TOPIC or topic_id == METADATA_TOPIC_ID


def metadata_logs(response: FetchResponse) -> list[PartitionData]:
    """Return the partitions in a response that have records of the metadata log."""
    return [
        partition
        for topic in response.responses
        if is_metadata_topic(topic.topic, topic.topic_id)
        for partition in topic.partitions
        if partition.records
    ]
