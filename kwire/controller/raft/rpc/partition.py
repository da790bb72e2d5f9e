"""The one partition that KRaft replicates, and how requests and responses name it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC

GREATEST_PIECE = 8 << 20
"""Bytes of a log or a snapshot in one answer, whatever a peer asks for: Kafka's batch limit."""

P = TypeVar("P", covariant=True)


class NamedTopic(Protocol[P]):
    """A topic of a request or response."""

    @property
    def topic_name(self) -> str: ...
    @property
    def partitions(self) -> Sequence[P]: ...


def only_partition(topics: Sequence[NamedTopic[P]]) -> P | None:
    """The metadata partition, where a message has it and nothing else; INVALID_REQUEST if not."""
    if len(topics) != 1 or topics[0].topic_name != METADATA_TOPIC:
        return None
    return only(topics[0].partitions)


def only(partitions: Sequence[P]) -> P | None:
    """Partition 0, where it is the only one."""
    if len(partitions) != 1 or _index(partitions[0]) != METADATA_PARTITION:
        return None
    return partitions[0]


def _index(partition: object) -> int:
    for name in ("partition_index", "partition", "index"):
        if hasattr(partition, name):
            return int(getattr(partition, name))
    return -1
