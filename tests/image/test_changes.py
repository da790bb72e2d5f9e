"""Differences of images: looked up by the records between, or of everything."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from kwire.batches import read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.codec.declaration import MetadataRecord
from kwire.image import EMPTY, MetadataImage, ReplayError, apply, apply_all
from kwire.image.changes import MetadataChanges, ValueChange
from kwire.image.replay import REPLAYS
from kwire.image.scram import ScramUser
from kwire.messages.config_resource import ConfigResource
from kwire.messages.records.abort_transaction import AbortTransactionRecord
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.clear_elr import ClearElrRecord
from kwire.messages.records.client_quota import ClientQuotaRecord, EntityData
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.fence_broker import FenceBrokerRecord
from kwire.messages.records.no_op import NoOpRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.producer_ids import ProducerIdsRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.register_controller import RegisterControllerRecord
from kwire.messages.records.remove_access_control_entry import RemoveAccessControlEntryRecord
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.unfence_broker import UnfenceBrokerRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord
from kwire.messages.records.unregister_controller import UnregisterControllerRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from tests.support.paths import FIXTURES
from tests.support.seed import SEED

PARTS = [name for name in MetadataChanges.__struct_fields__ if name not in ("before", "after")]


def random_record(kind: type, random: Random) -> MetadataRecord:
    """Return a record of few possible keys, so that many records meet on one."""
    few = random.randrange(3)
    id = UUID(int=random.randrange(1, 5))
    part = random.choice(["user", "client-id"]), random.choice(["a", "b", None])
    user = {"name": f"u{few}", "mechanism": random.randrange(1, 3)}
    partition = {"topic_id": id, "partition_id": few}
    broker: dict[str, object] = {"broker_id": few, "broker_epoch": random.randrange(2)}
    made: dict[type, dict[str, object]] = {
        TopicRecord: {"name": f"t{id.int % 3}", "topic_id": id},
        RemoveTopicRecord: {"topic_id": id},
        PartitionRecord: {**partition, "replicas": (1, 2), "leader": few, "isr": (1,),
                          "eligible_leader_replicas": random.choice([None, (2,)])},
        PartitionChangeRecord: {**partition, "leader": few, "isr": random.choice([None, (1, 2)])},
        ClearElrRecord: {"topic_name": random.choice(["", "t0", "t1"])},
        ConfigRecord: {"resource_type": random.choice([2, 4]), "resource_name": f"t{few}",
                       "name": f"key{few}", "value": random.choice([None, "1", "2"])},
        ClientQuotaRecord: {"entity": [EntityData(entity_type=part[0], entity_name=part[1])],
                            "key": f"q{few}", "value": float(few), "remove": few == 0},
        UserScramCredentialRecord: {**user, "salt": bytes([few])},
        RemoveUserScramCredentialRecord: user,
        AccessControlEntryRecord: {"id": id, "resource_name": f"r{few}"},
        RemoveAccessControlEntryRecord: {"id": id},
        DelegationTokenRecord: {"token_id": f"k{few}", "expiration_timestamp": id.int},
        RemoveDelegationTokenRecord: {"token_id": f"k{few}"},
        ProducerIdsRecord: {"next_producer_id": few * 1000},
        RegisterBrokerRecord: broker,
        UnregisterBrokerRecord: broker,
        BrokerRegistrationChangeRecord: {**broker, "fenced": random.randrange(-1, 2)},
        FenceBrokerRecord: {"id": few, "epoch": random.randrange(2)},
        UnfenceBrokerRecord: {"id": few, "epoch": random.randrange(2)},
        RegisterControllerRecord: {"controller_id": few, "incarnation_id": id},
        UnregisterControllerRecord: {"controller_id": few},
        FeatureLevelRecord: {"name": random.choice(["metadata.version", "x"]),
                             "feature_level": few},
        ZkMigrationStateRecord: {"zk_migration_state": few},
    }  # fmt: skip
    return kind(**made.get(kind, {}))  # type: ignore[no-any-return]


def random_records(
    random: Random, image: MetadataImage, count: int
) -> tuple[MetadataImage, list[MetadataRecord]]:
    """Return an image after records of every kind that fit, and these records."""
    records: list[MetadataRecord] = []
    while len(records) < count:
        record = random_record(random.choice(list(REPLAYS)), random)
        try:
            image = apply(image, record)
        except ReplayError:
            continue
        records.append(record)
    return image, records


@pytest.mark.parametrize("seed", range(SEED, SEED + 30))
def test_the_records_between_two_images_show_all_that_a_whole_comparison_finds(seed: int) -> None:
    random = Random(seed)
    image, records = random_records(random, EMPTY, 200)
    while image.before is not None:
        image, records = random_records(random, image, 1)
    for _ in range(100):
        after, records = random_records(random, image, random.randrange(1, 30))
        if after.before is not None:  # Whole transactions only, as the driver sees them.
            after, ends = apply(after, EndTransactionRecord()), [EndTransactionRecord()]
            records += ends

        by_records = MetadataChanges.of(image, after, records)
        whole = MetadataChanges.between(image, after)

        for part in PARTS:
            assert getattr(by_records, part) == getattr(whole, part), part
            if isinstance(getattr(whole, part), dict):
                assert list(getattr(by_records, part)) == list(getattr(whole, part)), part
        image = after


def batches(folder: Path) -> Iterator[list[VersionedRecord]]:
    for segment in sorted(folder.glob("*.log")):
        for batch in read_batches(segment.read_bytes()):
            if not batch.is_control:
                yield [read_metadata_record(record.value or b"") for record in batch.records()]


LOGS = sorted((FIXTURES / "logdirs").glob("*/__cluster_metadata-0"))


@pytest.mark.parametrize("folder", LOGS, ids=lambda folder: folder.parent.name)
def test_the_changes_of_every_batch_of_a_real_log_are_all_there_are(folder: Path) -> None:
    image = EMPTY
    for records in batches(folder):
        try:
            after = apply_all(image, records)
        except ReplayError:
            return  # The log goes on after a snapshot.
        by_records, whole = (
            MetadataChanges.of(image, after, records), MetadataChanges.between(image, after)
        )  # fmt: skip
        if image.before is None and after.before is None:
            assert by_records == whole
        image = after


TOPIC, OTHER = UUID(int=77), UUID(int=78)


def with_topic() -> MetadataImage:
    partitions = [
        PartitionRecord(
            topic_id=TOPIC, partition_id=number, replicas=(1, 2), leader=1, partition_epoch=9
        )
        for number in (0, 1)
    ]
    config = ConfigRecord(resource_type=2, resource_name="foo", name="retention.ms", value="1")
    return apply_all(EMPTY, [TopicRecord(name="foo", topic_id=TOPIC), *partitions, config])


def changes_of(before: MetadataImage, *records: MetadataRecord) -> MetadataChanges:
    return MetadataChanges.of(before, apply_all(before, records), records)


def test_a_changed_topic_names_only_the_partitions_that_changed() -> None:
    before = with_topic()

    changes = changes_of(before, PartitionChangeRecord(topic_id=TOPIC, partition_id=1, isr=(1,)))

    (topic,) = changes.changed_topics
    ((number, partition),) = topic.partitions.items()
    assert (topic.name, number) == ("foo", 1)
    assert partition.before == before.topics.by_id[TOPIC].partitions[1]
    assert partition.after is not None
    assert (partition.after.isr, partition.after.partition_epoch) == ((1,), 10)
    assert not changes.created_topics
    assert not changes.deleted_topics


def test_a_topic_deleted_and_created_again_is_two_changes() -> None:
    before = with_topic()
    new = PartitionRecord(topic_id=OTHER, partition_id=0, replicas=(2,), isr=(2,), leader=2)

    changes = changes_of(
        before, RemoveTopicRecord(topic_id=TOPIC), TopicRecord(name="foo", topic_id=OTHER), new
    )

    assert list(changes.topics) == [TOPIC, OTHER]
    assert [topic.id for topic in changes.deleted_topics] == [TOPIC]
    assert [topic.id for topic in changes.created_topics] == [OTHER]
    assert [topic.name for topic in changes.topics.values()] == ["foo", "foo"]
    assert {id: sorted(topic.partitions) for id, topic in changes.topics.items()} == {
        TOPIC: [0, 1], OTHER: [0],
    }  # fmt: skip
    config = changes.configs[ConfigResource(2, "foo")]
    assert (dict(config.before or {}), config.after) == ({"retention.ms": "1"}, None)


def test_a_topic_created_and_deleted_leaves_no_trace() -> None:
    """As in TopicsDelta."""
    changes = changes_of(
        EMPTY, TopicRecord(name="foo", topic_id=TOPIC), RemoveTopicRecord(topic_id=TOPIC)
    )

    assert not changes


def test_an_open_transaction_has_changed_nothing_and_an_ended_one_everything() -> None:
    topic = TopicRecord(name="foo", topic_id=TOPIC)
    middle = apply_all(EMPTY, [BeginTransactionRecord(), topic])
    end = apply(middle, EndTransactionRecord())

    assert not MetadataChanges.of(EMPTY, middle, [BeginTransactionRecord(), topic])
    assert not MetadataChanges.between(EMPTY, middle)
    whole = [BeginTransactionRecord(), topic, EndTransactionRecord()]
    assert [item.name for item in MetadataChanges.of(EMPTY, end, whole).created_topics] == ["foo"]


def test_an_aborted_transaction_has_changed_nothing() -> None:
    topic = TopicRecord(name="foo", topic_id=TOPIC)

    assert not changes_of(EMPTY, BeginTransactionRecord(), topic, AbortTransactionRecord())


def test_a_value_that_was_set_again_is_no_change() -> None:
    before = with_topic()
    again = ConfigRecord(resource_type=2, resource_name="foo", name="retention.ms", value="1")

    assert not changes_of(before, again, NoOpRecord())


def test_every_record_but_those_of_transactions_is_a_change_of_its_part() -> None:
    records = [
        RegisterBrokerRecord(broker_id=1, broker_epoch=5),
        RegisterControllerRecord(controller_id=3000),
        UserScramCredentialRecord(name="alice", mechanism=1),
        AccessControlEntryRecord(id=TOPIC),
        DelegationTokenRecord(token_id="t"),
        ProducerIdsRecord(next_producer_id=1000),
        FeatureLevelRecord(name="metadata.version", feature_level=21),
        ZkMigrationStateRecord(zk_migration_state=2),
    ]

    changes = changes_of(EMPTY, *records)

    assert list(changes.brokers) == [1]
    assert list(changes.controllers) == [3000]
    assert list(changes.scram) == [ScramUser(1, "alice")]
    assert list(changes.acls) == [TOPIC]
    assert list(changes.delegation_tokens) == ["t"]
    assert changes.producer_ids == ValueChange(before=-1, after=1000)
    assert changes.features == {"metadata.version": ValueChange(before=None, after=21)}
    assert changes.zk_migration_state == ValueChange(before=0, after=2)
