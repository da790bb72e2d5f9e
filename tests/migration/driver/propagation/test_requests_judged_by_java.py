"""Random images and changes: Kafka's MigrationPropagator and kwire's make the same requests.

Kafka's lists of topics, partitions, brokers and listeners are in the order of hash maps, so both
sides are compared with these lists sorted. The order of requests to a broker is compared as it is,
so are replicas and ISR.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any
from uuid import UUID

import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.changes import MetadataChanges
from kwire.messages.metadata_versions import METADATA_VERSION, MetadataVersion
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.register_broker import BrokerEndpoint, RegisterBrokerRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord
from kwire.messages.registry import request
from kwire.migration.driver.propagation import (
    BrokerChanges,
    ControlRequestSender,
    full_requests,
    incremental_requests,
    is_told,
)
from migrating.propagation_judge import JudgedRequest, PropagationJudge
from tests.support.migration.driver.control_requests import (
    RequestsByBroker,
    requests_by_broker,
    shown,
)
from tests.support.seed import SEED

pytestmark = pytest.mark.java

BROKERS = (0, 1, 2, 3, 40)
LISTENER = "INSIDE"


def random_broker(random: Random, id: int) -> RegisterBrokerRecord:
    endpoints = [
        BrokerEndpoint(name=name, host=f"host{id}", port=port, security_protocol=protocol)
        for name, port, protocol in ((LISTENER, 9092, 0), ("OUTSIDE", 9093, 3))
    ]
    return RegisterBrokerRecord(
        broker_id=id,
        is_migrating_zk_broker=random.random() < 0.7,
        broker_epoch=random.randrange(1000),
        incarnation_id=UUID(int=random.getrandbits(60)),
        end_points=endpoints if random.random() < 0.7 else endpoints[:1],
        rack=random.choice((None, "a", "b")),
        fenced=random.random() < 0.3,
    )


def random_partition(random: Random, topic: UUID, number: int) -> PartitionRecord:
    replicas = tuple(random.sample(BROKERS, random.randint(1, 4)))
    isr = tuple(random.sample(replicas, random.randint(1, len(replicas))))
    is_reassigning = random.random() < 0.3
    return PartitionRecord(
        topic_id=topic,
        partition_id=number,
        replicas=replicas,
        isr=isr,
        leader=random.choice((*isr, -1)),
        leader_recovery_state=random.choice((0, 0, 1)),
        leader_epoch=random.randrange(9),
        partition_epoch=random.randrange(9),
        adding_replicas=replicas[:1] if is_reassigning else (),
        removing_replicas=replicas[1:2] if is_reassigning else (),
    )


def random_change(random: Random, topic: UUID, number: int) -> PartitionChangeRecord:
    replicas = tuple(random.sample(BROKERS, random.randint(1, 4)))
    return PartitionChangeRecord(
        topic_id=topic,
        partition_id=number,
        isr=random.choice((None, replicas[:1])),
        leader=random.choice((-2, -1, *replicas)),
        replicas=random.choice((None, replicas)),
        adding_replicas=random.choice((None, (), replicas[-1:])),
    )


class History:
    """Records that fit, at the versions of a level; a topic's id is never used again."""

    def __init__(self, random: Random, level: int) -> None:
        self.random = random
        self.version = MetadataVersion(level)
        self.image = EMPTY
        self._topics = 0
        self._brokers: list[int] = []

    def start(self) -> list[VersionedRecord]:
        """Return the records of a random image."""
        level = FeatureLevelRecord(name=METADATA_VERSION, feature_level=self.version.level)
        records = [VersionedRecord(record=level, version=0)]
        for id in self.random.sample(BROKERS, self.random.randint(0, len(BROKERS))):
            records.append(self._broker(id))
        for _ in range(self.random.randrange(4)):
            records += self._topic(f"t{self._topics}")
        return self.applied(records)

    def batch(self) -> list[VersionedRecord]:
        """Return the records of some random changes after the image.

        None undoes another's change of a broker: Java then tells brokers what they know.
        """
        self._brokers = self.random.sample(BROKERS, len(BROKERS))
        records: list[VersionedRecord] = []
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 5))):
            records += self.applied(self._change())
        return records

    def applied(self, records: list[VersionedRecord]) -> list[VersionedRecord]:
        self.image = apply_all(self.image, records)
        return records

    def _change(self) -> list[VersionedRecord]:
        random, topics = self.random, sorted(self.image.topics.by_id.values(), key=lambda t: t.name)
        kind = random.random()
        if kind < 0.4:
            return self._broker_change(self._brokers.pop())
        if kind < 0.55 or not topics:
            return self._topic(f"t{self._topics}")
        topic = random.choice(topics)
        if kind < 0.65:
            # A topic that is created again in the same step is the one thing that differs.
            return [VersionedRecord(record=RemoveTopicRecord(topic_id=topic.id), version=0)]
        number = random.choice([*topic.numbers(), len(topic.partitions)])
        version = self.version.partition_record
        if number in topic.partitions:
            change = random_change(random, topic.id, number)
            return [VersionedRecord(record=change, version=version)]
        partition = random_partition(random, topic.id, number)
        return [VersionedRecord(record=partition, version=version)]

    def _broker_change(self, id: int) -> list[VersionedRecord]:
        broker = self.image.cluster.brokers.get(id)
        kind = self.random.random()
        if broker is None or kind < 0.4:
            return [self._broker(id)]
        if kind < 0.6:
            gone = UnregisterBrokerRecord(broker_id=id, broker_epoch=broker.epoch)
            return [VersionedRecord(record=gone, version=0)]
        change = BrokerRegistrationChangeRecord(
            broker_id=id, broker_epoch=broker.epoch, fenced=self.random.choice((-1, 0, 1)),
            in_controlled_shutdown=self.random.choice((0, 0, 1)),
        )  # fmt: skip
        return [VersionedRecord(record=change, version=1)]

    def _broker(self, id: int) -> VersionedRecord:
        # Before version 2 there is no broker that migrates, and so nothing to compare.
        version = max(2, self.version.register_broker_record)
        return VersionedRecord(record=random_broker(self.random, id), version=version)

    def _topic(self, name: str) -> list[VersionedRecord]:
        self._topics += 1
        id = UUID(int=1000 + self._topics)
        records = [VersionedRecord(record=TopicRecord(name=name, topic_id=id), version=0)]
        for number in range(self.random.randint(0, 4)):
            partition = random_partition(self.random, id, number)
            version = self.version.partition_record
            records.append(VersionedRecord(record=partition, version=version))
        return records


def theirs(requests: Sequence[JudgedRequest]) -> RequestsByBroker:
    told: RequestsByBroker = defaultdict(list)
    for item in requests:
        read = request(item.key).decode(item.data, item.version)
        told[item.broker].append(shown(read, item.version))
    return told


def written(records: Iterable[VersionedRecord]) -> list[bytes]:
    return [record.encode() for record in records]


def brokers_told(image: MetadataImage) -> dict[int, Any]:
    return {id: broker for id, broker in image.cluster.brokers.items() if is_told(broker)}


@pytest.mark.parametrize("level", [7, 8, 14, 19, 21])
def test_requests_for_an_image_and_its_changes_are_kafkas(level: int) -> None:
    sender = ControlRequestSender(node_id=3000, zk_epoch=5, inter_broker_listener=LISTENER)
    seen = 0
    with PropagationJudge("3.9.1") as judge:
        for seed in range(SEED, SEED + 12):
            history = History(Random(f"{level}/{seed}"), level)
            records = history.start()
            for epoch in range(3, 10):
                before, image = history.image, written(records)
                kafka = judge(image=image, epoch=epoch, listener=LISTENER)
                full = requests_by_broker(full_requests(sender, before, epoch))
                assert full == theirs(kafka.requests), (seed, epoch)
                assert sorted(brokers_told(before)) == kafka.added

                batch = history.batch()
                kafka = judge(
                    image=image, epoch=epoch, listener=LISTENER,
                    changes=written(batch), changes_epoch=epoch + 1,
                )  # fmt: skip
                changes = MetadataChanges.of(before, history.image, batch)
                incremental = requests_by_broker(incremental_requests(sender, changes, epoch + 1))
                assert incremental == theirs(kafka.requests), (seed, epoch)
                connections = BrokerChanges.of(brokers_told(before), history.image)
                assert [broker.id for broker in connections.added] == kafka.added
                assert list(connections.removed) == kafka.removed
                records += batch
                seen += len(full) + len(incremental)
    assert seen > 100
