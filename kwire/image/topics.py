"""The topics of the image (org.apache.kafka.image.TopicsImage)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.image.errors import ReplayError
from kwire.image.partition import PartitionRegistration
from kwire.messages.metadata_versions import MetadataVersion
from kwire.messages.records.clear_elr import ClearElrRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.text.ids import uuid_text

_COPIED = 128
"""Partitions of a topic up to which a change copies them all: with so few that is the quicker way.

A long log changes a partition some millions of times, and most topics have fewer.
"""


def _persistent(
    partitions: dict[int, PartitionRegistration],
) -> Mapping[int, PartitionRegistration]:
    return partitions if len(partitions) <= _COPIED else HashTrieMap(partitions)


class TopicImage(Struct, frozen=True, kw_only=True, gc=False):
    """A topic and its partitions by number, which nobody changes."""

    name: str
    id: UUID
    partitions: Mapping[int, PartitionRegistration] = {}

    def numbers(self) -> range:
        """Return the numbers of its partitions, which have no gaps."""
        return range(len(self.partitions))

    def partition(self, number: int) -> PartitionRegistration:
        """Return a partition; raise ReplayError if there is none."""
        partition = self.partitions.get(number)
        if partition is None:
            raise ReplayError(f"topic {self.name} has no partition {number}")
        return partition

    def with_partitions(self, partitions: Mapping[int, PartitionRegistration]) -> TopicImage:
        """Return the topic with these partitions, by number, new or replaced."""
        before = self.partitions
        if isinstance(before, HashTrieMap):
            return replace(self, partitions=before.update(partitions))
        return replace(self, partitions=_persistent({**before, **partitions}))

    def records(self, at: MetadataVersion, *, elr: bool) -> Iterator[VersionedRecord]:
        """Yield the records that write it down; elr: as for `PartitionRegistration.record`."""
        # The topic before its partitions: replaying a partition of an unknown topic is an error.
        yield VersionedRecord(record=TopicRecord(name=self.name, topic_id=self.id), version=0)
        for number in sorted(self.partitions):
            yield self.partitions[number].record(self.id, number, at, elr=elr)


class TopicsImage(Struct, frozen=True, kw_only=True):
    """Every topic, by id, and the ids by name."""

    by_id: HashTrieMap[UUID, TopicImage] = HashTrieMap()
    ids: HashTrieMap[str, UUID] = HashTrieMap()

    def topic(self, name: str) -> TopicImage | None:
        """Return the topic of that name."""
        id = self.ids.get(name)
        return None if id is None else self.by_id[id]

    def partition(self, topic_id: UUID, number: int) -> PartitionRegistration | None:
        """Return one partition; None when the topic or the partition is not there."""
        topic = self.by_id.get(topic_id)
        return None if topic is None else topic.partitions.get(number)

    def partitions(
        self, predicate: Callable[[PartitionRegistration], bool]
    ) -> list[tuple[TopicImage, int, PartitionRegistration]]:
        """Return the partitions that satisfy a predicate, in order of topic name and number."""
        partitions = [
            (topic, number, partition)
            for topic in self.by_id.values()
            for number, partition in topic.partitions.items()
            if predicate(partition)
        ]
        return sorted(partitions, key=lambda item: (item[0].name, item[1]))

    def remove(self, record: RemoveTopicRecord) -> TopicsImage:
        """Remove a topic."""
        topic = self.by_known_id(record.topic_id)
        return replace(self, by_id=self.by_id.remove(topic.id), ids=self.ids.remove(topic.name))

    def clear_elr(self, record: ClearElrRecord) -> TopicsImage:
        """Clear the eligible leader replicas of one topic, or of all if none is named."""
        only_topic = self.topic(record.topic_name)
        if record.topic_name and only_topic is None:
            raise ReplayError(f"topic {record.topic_name} is not known")
        topics = [only_topic] if only_topic else list(self.by_id.values())
        image = self
        for topic in topics:
            cleared = {n: p.without_elr() for n, p in topic.partitions.items()}
            image = image._with(replace(topic, partitions=_persistent(cleared)))
        return image

    def records(self, at: MetadataVersion, *, elr: bool) -> Iterator[VersionedRecord]:
        """Yield the records that write them down, in order of their ids; elr: as for a topic."""
        for id in sorted(self.by_id):
            yield from self.by_id[id].records(at, elr=elr)

    def by_known_id(self, id: UUID) -> TopicImage:
        """Return the topic of an id; raise ReplayError if there is none."""
        topic = self.by_id.get(id)
        if topic is None:
            raise ReplayError(f"topic id {uuid_text(id)} is not known")
        return topic

    def _with(self, topic: TopicImage) -> TopicsImage:
        """Return the image with one of its topics changed."""
        return TopicsImage(by_id=self.by_id.insert(topic.id, topic), ids=self.ids)
