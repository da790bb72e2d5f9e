"""Partitions by health, as kafka-topics counts them, and anew only where something changed."""

from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kwire.batches import RecordBatch, read_batches
from kwire.batches.metadata_records import read_metadata_record
from kwire.codec.declaration import MetadataRecord
from kwire.exporter.partition_counts import STEP, PartitionCounter
from kwire.image import EMPTY, MetadataImage, apply, apply_all
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from tests.support.paths import FIXTURES

LOGS = sorted((FIXTURES / "logdirs").glob("*/__cluster_metadata-0/00000000000000000000.log"))
TOPIC = UUID(int=1000)
HEALTHY = {"partitions": 1, "replicas": 3}


def partition(number: int = 0, **fields: Any) -> PartitionRecord:
    usual: dict[str, Any] = {
        "topic_id": TOPIC,
        "replicas": (1, 2, 3),
        "isr": (1, 2, 3),
        "leader": 1,
    }
    return PartitionRecord(**{"partition_id": number} | usual | fields)


def image_of(*records: MetadataRecord) -> MetadataImage:
    return apply_all(EMPTY, [TopicRecord(name="orders", topic_id=TOPIC), *records])


def steps(counter: PartitionCounter, image: MetadataImage) -> int:
    """Count an image; return how often others had their turn."""
    return sum(1 for _ in counter.count(image))


def counted(image: MetadataImage, static_min_isr: int = 1) -> dict[str, int]:
    """Return the counts that are not 0, offline directories among them."""
    counter = PartitionCounter(static_min_isr)
    steps(counter, image)
    numbers = {**asdict(counter.totals), "offline_directories": counter.offline_directories}
    return {name: number for name, number in numbers.items() if number}


@pytest.mark.parametrize(
    ("fields", "kinds"),
    [
        ({}, set()),
        ({"leader": -1}, {"leaderless", "not_preferred_leader"}),
        ({"leader": 2}, {"not_preferred_leader"}),
        ({"isr": (1, 2)}, {"under_replicated"}),
        ({"isr": (1,)}, {"under_replicated", "at_min_isr"}),
        ({"isr": ()}, {"under_replicated", "under_min_isr"}),
        ({"isr": (1, 2), "adding_replicas": (3,)}, {"reassigning"}),
        ({"removing_replicas": (3,)}, {"reassigning"}),
        (
            {"isr": (1,), "eligible_leader_replicas": (2,)},
            {"under_replicated", "with_elr", "at_min_isr"},
        ),
    ],
    ids=lambda value: ",".join(sorted(map(str, value))) or "none",
)
def test_a_partition_is_of_each_kind_that_fits(fields: dict[str, Any], kinds: set[str]) -> None:
    assert counted(image_of(partition(**fields))) == HEALTHY | dict.fromkeys(kinds, 1)


@pytest.mark.parametrize(
    ("of_topic", "of_all", "static", "kind"),
    [
        ("3", "1", 1, "under_min_isr"),
        ("2", "1", 1, "at_min_isr"),
        (None, "3", 1, "under_min_isr"),
        (None, None, 2, "at_min_isr"),
        ("nonsense", "2", 1, "at_min_isr"),
    ],
)
def test_min_insync_replicas_is_the_topics_or_that_of_all_brokers(
    of_topic: str | None, of_all: str | None, static: int, kind: str
) -> None:
    key = "min.insync.replicas"
    configs = [
        ConfigRecord(resource_type=type, resource_name=name, name=key, value=value)
        for type, name, value in ((2, "orders", of_topic), (4, "", of_all))
        if value is not None
    ]
    image = image_of(partition(isr=(1, 2)), *configs)
    assert counted(image, static) == HEALTHY | {"under_replicated": 1, kind: 1}


def test_replicas_in_directories_that_went_offline_are_counted() -> None:
    good, broken = UUID(int=500), UUID(int=501)
    broker = RegisterBrokerRecord(
        broker_id=1, incarnation_id=UUID(int=7), broker_epoch=5, log_dirs=(good, broken)
    )
    placed = [
        partition(number, replicas=(1,), isr=(1,), directories=(directory,))
        for number, directory in enumerate((good, broken, broken))
    ]
    image = image_of(broker, *placed)
    assert "offline_replicas" not in counted(image)
    loss = BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=5, log_dirs=(good,))
    numbers = counted(apply(image, loss))
    assert (numbers["offline_replicas"], numbers["offline_directories"]) == (2, 1)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parents[1].name)
def test_counting_after_each_record_of_kafka_is_counting_from_the_start(log: Path) -> None:
    counter, image = PartitionCounter(), EMPTY
    for batch in read_batches(log.read_bytes()):
        assert isinstance(batch, RecordBatch)
        for record in () if batch.is_control else batch.records():
            image = apply(image, read_metadata_record(record.value or b""))
            steps(counter, image)
            fresh = PartitionCounter()
            steps(fresh, image)
            assert counter.totals == fresh.totals
            assert counter.offline_directories == fresh.offline_directories


def test_a_change_counts_the_changed_topic_alone() -> None:
    ids = [UUID(int=5000 + number) for number in range(10)]
    records: list[MetadataRecord] = []
    for id in ids:
        records.append(TopicRecord(name=str(id), topic_id=id))
        records += [partition(number, topic_id=id) for number in range(STEP // 2)]
    image = apply_all(EMPTY, records)
    counter = PartitionCounter()
    assert steps(counter, image) == 5  # others have their turn after each STEP
    before = dict(counter.topics)
    change = PartitionChangeRecord(topic_id=ids[3], partition_id=7, isr=(1, 2))
    assert steps(counter, apply(image, change)) == 0
    assert [id for id in ids if counter.topics[id] is not before[id]] == [ids[3]]
    assert counter.totals.under_replicated == 1
    steps(counter, apply(image, RemoveTopicRecord(topic_id=ids[3])))
    assert counter.totals.partitions == 9 * STEP // 2
    assert counter.totals.under_replicated == 0
