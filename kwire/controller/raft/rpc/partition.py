"""The one partition that KRaft replicates, and its names in requests and responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC

MAX_RESPONSE_BYTES = 8 << 20
"""Bytes of a log or a snapshot in one response, whatever a peer asks for: Kafka's batch limit
(KafkaRaftClient.MAX_BATCH_SIZE_BYTES)."""

P = TypeVar("P", covariant=True)


class NamedTopic(Protocol[P]):
    """A topic of a request or response."""

    @property
    def topic_name(self) -> str: ...
    @property
    def partitions(self) -> Sequence[P]: ...


def only_partition(topics: Sequence[NamedTopic[P]]) -> P | None:
    """Return the metadata partition if a message has it and nothing else."""
    if len(topics) != 1 or topics[0].topic_name != METADATA_TOPIC:
        return None
    return only_partition_0(topics[0].partitions)


def only_partition_0(partitions: Sequence[P]) -> P | None:
    """Return partition 0 if it is the only one."""
    if len(partitions) != 1 or _index(partitions[0]) != METADATA_PARTITION:
        return None
    return partitions[0]


def _index(partition: object) -> int:
    # Messages call the field by three names.
    for name in ("partition_index", "partition", "index"):
        if hasattr(partition, name):
            return int(getattr(partition, name))
    return -1
