"""A partition by its topic's name, as Kafka's tools write it: `orders-3` (Java's TopicPartition)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from kwire.errors import InvalidValue


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    """A key of operations on partitions; sorts by topic, then by partition."""

    topic: str
    partition: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `orders-3`; the part after the last dash is the partition. Raises InvalidValue."""
        topic, _, partition = text.rpartition("-")
        if not topic or not (partition.isascii() and partition.isdigit()):
            raise InvalidValue(f"{text!r} is no partition: write TOPIC-PARTITION, as in orders-3")
        return cls(topic, int(partition))

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
