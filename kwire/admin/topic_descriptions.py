"""Topics and partitions as a broker, or the metadata log, describes them."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

TopicKey = str | UUID
"""A topic by name or by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicListing:
    """A topic's name and id. topic_id: None before Kafka 2.8."""

    name: str
    topic_id: UUID | None
    is_internal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDescription:
    """A partition and its replicas, as node ids.

    leader_id, leader_epoch: None where there is none. elr, last_known_elr: the eligible leader
    replicas (KIP-966), None where the broker does not tell. offline: replicas on brokers or
    directories that are down.
    """

    partition: int
    leader_id: int | None
    leader_epoch: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None
    offline: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDescription:
    """A topic and its partitions in order."""

    name: str
    topic_id: UUID | None
    is_internal: bool
    partitions: tuple[PartitionDescription, ...]
