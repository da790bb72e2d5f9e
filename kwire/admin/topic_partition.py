"""A partition by its topic's name, written `orders-3` as Kafka's tools do (TopicPartition.java)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from kwire.errors import InvalidValue

_WRITTEN = re.compile(r"(.+)-([0-9]{1,10})")


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    """A key of operations on partitions; sorts by topic, then by partition."""

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
