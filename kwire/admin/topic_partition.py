"""Partitions and replicas by name: `orders-3`, as Kafka's tools write it, and `orders-3@1`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from kwire.errors import InvalidValue

_WRITTEN = re.compile(r"(.+)-([0-9]{1,10})")
_REPLICA_WRITTEN = re.compile(r"(.+)@([0-9]{1,10})")


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    """A key of operations (Java: TopicPartition); sorts by topic, then by partition."""

    topic: str
    partition: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `orders-3`; the part after the last dash is the partition. Raises InvalidValue."""
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise InvalidValue(f"{text!r} is no partition: write TOPIC-PARTITION, as in orders-3")
        return cls(match[1], int(match[2]))

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True, order=True)
class TopicPartitionReplica:
    """A replica, written `orders-3@1`: the one of partition orders-3 on broker 1."""

    topic: str
    partition: int
    broker_id: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `orders-3@1`. Raises InvalidValue."""
        match = _REPLICA_WRITTEN.fullmatch(text)
        if match is None:
            raise InvalidValue(
                f"{text!r} is no replica: write TOPIC-PARTITION@BROKER, as in orders-3@1"
            )
        partition = TopicPartition.parse(match[1])
        return cls(partition.topic, partition.partition, int(match[2]))

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition that it is a replica of."""
        return TopicPartition(self.topic, self.partition)

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}@{self.broker_id}"


def by_topic(keys: Iterable[TopicPartition | TopicPartitionReplica]) -> dict[str, tuple[int, ...]]:
    """Return the partitions of each topic, as requests group them."""
    partitions: dict[str, list[int]] = {}
    for key in keys:
        partitions.setdefault(key.topic, []).append(key.partition)
    return {topic: tuple(indexes) for topic, indexes in partitions.items()}
