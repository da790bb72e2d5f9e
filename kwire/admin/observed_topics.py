"""Topics as the metadata log has them: for clients of controllers, which do not serve Metadata.

An observer reads the log (KIP-595) up to the high watermark; the answer is the cluster as it is
committed, while a broker's may lag behind.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from kwire.admin.errors import refusal
from kwire.admin.topic_descriptions import (
    PartitionDescription,
    TopicDescription,
    TopicKey,
    TopicListing,
)
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError

if TYPE_CHECKING:
    from kwire.image import MetadataImage
    from kwire.image.partition import PartitionRegistration
    from kwire.image.topics import TopicImage

NO_LEADER = -1

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Kafka's own (org.apache.kafka.common.internals.Topic); brokers know them by name, too."""


def list_observed(image: MetadataImage) -> list[TopicListing]:
    """Return every topic, by name."""
    return [
        TopicListing(name=name, topic_id=image.topics.ids[name], is_internal=_is_internal(name))
        for name in sorted(image.topics.ids)
    ]


def describe_observed(
    image: MetadataImage, keys: Iterable[TopicKey]
) -> dict[TopicKey, TopicDescription | KwireError]:
    """Describe topics by name or id; one that is not there has the error that a broker gives."""
    described: dict[TopicKey, TopicDescription | KwireError] = {}
    for key in keys:
        by_id = isinstance(key, UUID)
        topic = image.topics.by_id.get(key) if isinstance(key, UUID) else image.topics.topic(key)
        if topic is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            error = refusal(code, "the metadata log has no such topic")
            assert error is not None
            described[key] = error
        else:
            described[key] = _described(image, topic)
    return described


def _described(image: MetadataImage, topic: TopicImage) -> TopicDescription:
    return TopicDescription(
        name=topic.name,
        topic_id=topic.id,
        is_internal=_is_internal(topic.name),
        partitions=tuple(
            _partition(image, number, topic.partitions[number]) for number in topic.numbers()
        ),
    )


def _partition(
    image: MetadataImage, number: int, partition: PartitionRegistration
) -> PartitionDescription:
    return PartitionDescription(
        partition=number,
        leader_id=None if partition.leader == NO_LEADER else partition.leader,
        leader_epoch=partition.leader_epoch,
        replicas=partition.replicas,
        isr=partition.isr,
        elr=partition.elr,
        last_known_elr=partition.last_known_elr,
        offline=tuple(
            replica for replica in partition.replicas if _is_offline(image, partition, replica)
        ),
    )


def _is_offline(image: MetadataImage, partition: PartitionRegistration, replica: int) -> bool:
    """True if a replica's broker is gone or fenced, or its directory is (KRaftMetadataCache)."""
    broker = image.cluster.brokers.get(replica)
    if broker is None or broker.fenced:
        return True
    return not broker.has_online_directory(partition.directory(replica))


def _is_internal(name: str) -> bool:
    return name in INTERNAL_TOPICS
