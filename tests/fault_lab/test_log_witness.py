"""The history held against the metadata log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.fault_lab.history import Fate, RecordedOperation, RunHistory
from kwire.fault_lab.log_witness import check_witness, effects_in
from kwire.fault_lab.metadata_log import CommittedRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.text.ids import uuid_text

ID = UUID(int=3)


def operation(key: str, kind: str, at: float, fate: Fate = Fate.OK, **more: Any) -> Any:
    return RecordedOperation(key=key, kind=kind, fate=fate, begin=at, end=at + 1, **more)


def setting(value: int, at: float, fate: Fate = Fate.OK) -> RecordedOperation:
    found: RecordedOperation = operation("config:c", "set", at, fate, value=value)
    return found


def config(value: int) -> ConfigRecord:
    return ConfigRecord(resource_type=16, resource_name="c", name="interval.ms", value=str(value))


def committed(*records: MetadataRecord) -> Iterator[CommittedRecord]:
    for offset, record in enumerate(records):
        yield CommittedRecord(offset, VersionedRecord(record=record, version=0))


def names(history: list[RecordedOperation], *records: MetadataRecord) -> list[str]:
    effects = effects_in(committed(*records))
    return [anomaly.name for anomaly in check_witness(RunHistory(history), effects)]


def test_what_is_in_the_log_in_order_is_fine() -> None:
    created = operation("topic:t", "create", 0, value=1, result=uuid_text(ID))
    deleted = operation("topic:t", "delete", 2, result=uuid_text(ID))
    topic, removal = TopicRecord(name="t", topic_id=ID), RemoveTopicRecord(topic_id=ID)
    assert names([created, deleted, setting(101, 4)], topic, removal, config(101)) == []


def test_an_acknowledged_change_that_is_not_there_is_lost() -> None:
    assert names([setting(101, 0)], config(102)) == ["lost"]
    assert names([setting(101, 0, Fate.UNKNOWN)], config(102)) == []


def test_a_change_that_is_there_twice_or_was_refused_is_found() -> None:
    assert names([setting(101, 0)], config(101), config(102), config(101)) == ["twice"]
    assert names([setting(101, 0, Fate.NOT_DONE)], config(101)) == ["undone"]


def test_the_order_of_the_log_is_that_of_the_answers() -> None:
    first, second = setting(101, 0), setting(102, 5)
    assert names([first, second], config(102), config(101)) == ["order"]
    at_once = setting(102, 0.5)
    assert names([first, at_once], config(102), config(101)) == []


def test_a_change_without_an_answer_may_not_be_older_than_its_request() -> None:
    first, unknown = setting(101, 0), setting(102, 5, Fate.UNKNOWN)
    assert names([first, unknown], config(102), config(101)) == ["order"]
    assert names([unknown, first], config(101), config(102)) == []


def test_a_history_is_the_same_after_it_was_written() -> None:
    history = RunHistory([setting(101, 0), setting(102, 5, Fate.UNKNOWN)])
    again = RunHistory.from_lines(history.lines())
    assert again.operations == history.operations
    assert again.counts() == {"config set": {"ok": 1, "unknown": 1}}
