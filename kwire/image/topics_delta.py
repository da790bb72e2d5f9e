"""Changes of topics that become an image together (org.apache.kafka.image.TopicsDelta).

Nearly all records of a large log are of partitions. One by one, each of them makes new nodes of two
persistent maps, for its topic and for all topics; gathered, a topic is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from kwire.image.errors import ReplayError
from kwire.image.partition import PartitionRegistration
from kwire.image.topics import TopicImage, TopicsImage
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.topic import TopicRecord
from kwire.text.ids import uuid_text


class TopicsDelta:
    """Topics and partitions that differ from those of an image.

    _topics: the topics that are changed, by the integer of their id, whose hash is quicker than the
    id's. _partitions: of these, the changed ones by number.
    """

    def __init__(self, image: TopicsImage) -> None:
        self._image = image
        self._topics: dict[int, TopicImage] = {}
        self._partitions: dict[int, dict[int, PartitionRegistration]] = {}
        self._created: dict[str, UUID] = {}

    def create(self, record: TopicRecord) -> None:
        """Add a topic; raise ReplayError if its name or its id is taken."""
        id = record.topic_id
        if record.name in self._image.ids or record.name in self._created:
            raise ReplayError(f"topic {record.name} exists already")
        if id.int in self._topics or id in self._image.by_id:
            raise ReplayError(f"topic {record.name} has the id of another, {uuid_text(id)}")
        self._created[record.name] = id
        self._topics[id.int] = TopicImage(name=record.name, id=id)
        self._partitions[id.int] = {}

    def put(self, record: PartitionRecord) -> None:
        """Add a partition, or replace one that a snapshot writes down anew."""
        changed = self._partitions.get(record.topic_id.int)
        if changed is None:
            changed = self._begin(record.topic_id)
        changed[record.partition_id] = PartitionRegistration.of(record)

    def change(self, record: PartitionChangeRecord) -> None:
        """Change a partition."""
        id, number = record.topic_id.int, record.partition_id
        changed = self._partitions.get(id)
        if changed is None:
            changed = self._begin(record.topic_id)
        partition = changed.get(number)
        if partition is None:
            partition = self._topics[id].partition(number)
        changed[number] = partition.merge(record)

    def image(self) -> TopicsImage:
        """Return the topics after every record."""
        topics = {
            topic.id: topic.with_partitions(self._partitions[id])
            for id, topic in self._topics.items()
        }
        return TopicsImage(
            by_id=self._image.by_id.update(topics), ids=self._image.ids.update(self._created)
        )

    def _begin(self, id: UUID) -> dict[int, PartitionRegistration]:
        """Return the changed partitions of a topic, none of which has changed so far."""
        self._topics[id.int] = self._image.by_known_id(id)
        changed = self._partitions[id.int] = {}
        return changed


CHANGES: Mapping[type, Callable[[TopicsDelta, Any], None]] = MappingProxyType(
    {
        TopicRecord: TopicsDelta.create,
        PartitionRecord: TopicsDelta.put,
        PartitionChangeRecord: TopicsDelta.change,
    }
)
"""The change that each kind of record makes; other records are not of topics alone."""
