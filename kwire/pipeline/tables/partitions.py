"""The table `partitions`: every state that a partition was in, folded from the records of a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

import pyarrow as pa
from pyspark.sql import DataFrame

from kwire.batches.metadata_records import VersionedRecord
from kwire.image.partition import RECOVERED, PartitionRegistration
from kwire.messages.records.clear_elr import ClearElrRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.pipeline.arrow_tasks import map_batches
from kwire.pipeline.schemas import PARTITIONS, made_columns
from kwire.pipeline.tables.folding import Fold, RecordPosition, folded, in_order
from kwire.pipeline.tables.shape import shaped
from kwire.text.ids import uuid_text

Key = tuple[UUID, int]

HISTORY = made_columns(PARTITIONS)


def partitions(logged: DataFrame) -> DataFrame:
    """Return a row for every state of every partition, from the first one that the log knows."""
    rows = map_batches(in_order(logged), _histories, HISTORY)
    return shaped(rows, "partitions")


def _histories(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from folded(batches, PartitionHistory, HISTORY)


class PartitionHistory(Fold):
    """The partitions of one log; yields a row whenever one changes."""

    def __init__(self) -> None:
        self._topics: dict[UUID, str] = {}
        self._partitions: dict[Key, PartitionRegistration] = {}

    def take(self, position: RecordPosition, record: VersionedRecord) -> Iterator[dict[str, Any]]:
        message = record.record
        match message:
            case TopicRecord():
                self._topics[message.topic_id] = message.name
            case PartitionRecord():
                key = (message.topic_id, message.partition_id)
                yield self._put(position, message, key, PartitionRegistration.of(message))
            case PartitionChangeRecord():
                key = (message.topic_id, message.partition_id)
                if (known := self._partitions.get(key)) is not None:
                    yield self._put(position, message, key, known.merge(message))
            case ClearElrRecord():
                for key in self._named(message.topic_name):
                    yield self._put(position, message, key, self._partitions[key].without_elr())
            case RemoveTopicRecord():
                for key in self._of(message.topic_id):
                    del self._partitions[key]
                    yield self._row(position, message, key, None)
                self._topics.pop(message.topic_id, None)

    def restored(self, position: RecordPosition) -> Iterator[dict[str, Any]]:
        for key in sorted(self._partitions):
            yield self._row(position, PartitionRecord(), key, self._partitions[key])

    def _put(
        self, position: RecordPosition, message: object, key: Key, partition: PartitionRegistration
    ) -> dict[str, Any]:
        self._partitions[key] = partition
        return self._row(position, message, key, partition)

    def _row(
        self,
        position: RecordPosition,
        message: object,
        key: Key,
        state: PartitionRegistration | None,
    ) -> dict[str, Any]:
        topic_id, number = key
        row = position.columns() | {
            "change": type(message).__name__,
            "topic": self._topics.get(topic_id),
            "topic_id": uuid_text(topic_id),
            "partition": number,
        }
        if state is None:
            return row
        return row | {
            "leader": state.leader,
            "leader_epoch": state.leader_epoch,
            "partition_epoch": state.partition_epoch,
            "replicas": state.replicas,
            "isr": state.isr,
            "adding_replicas": state.adding_replicas,
            "removing_replicas": state.removing_replicas,
            "elr": state.elr,
            "last_known_elr": state.last_known_elr,
            "recovering": state.leader_recovery_state != RECOVERED,
            "directories": [uuid_text(directory) for directory in state.directories],
        }

    def _of(self, topic_id: UUID) -> list[Key]:
        return sorted(key for key in self._partitions if key[0] == topic_id)

    def _named(self, topic: str) -> list[Key]:
        """Return the partitions of a topic; those of all topics for an empty name."""
        return sorted(
            key for key in self._partitions if not topic or self._topics.get(key[0]) == topic
        )
