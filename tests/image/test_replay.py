"""Replay of single records: their effects on the image, and those that it refuses."""

from time import process_time
from uuid import UUID

import pytest

from kwire.batches.metadata_records import OpaqueRecord, VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.image import EMPTY, MetadataImage, ReplayError, apply, apply_all
from kwire.image.replay import REPLAYS
from kwire.messages.config_resource import ResourceType
from kwire.messages.index import METADATA_RECORDS
from kwire.messages.metadata_versions import ELIGIBLE_LEADER_REPLICAS, METADATA_VERSION
from kwire.messages.records.abort_transaction import AbortTransactionRecord
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.clear_elr import ClearElrRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.fence_broker import FenceBrokerRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.unfence_broker import UnfenceBrokerRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord
from kwire.messages.records.unregister_controller import UnregisterControllerRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.messages.registry import metadata_record

TOPIC = UUID(int=77)
DIRECTORY = UUID(int=1234)


def with_topic() -> MetadataImage:
    partition = PartitionRecord(
        topic_id=TOPIC, partition_id=0, replicas=(1, 2), isr=(1, 2), leader=1, leader_epoch=5,
        partition_epoch=9, directories=(DIRECTORY, DIRECTORY), eligible_leader_replicas=(3,),
    )  # fmt: skip
    return apply_all(EMPTY, [TopicRecord(name="foo", topic_id=TOPIC), partition])


def with_broker(*, fenced: bool = True) -> MetadataImage:
    return apply(EMPTY, RegisterBrokerRecord(broker_id=1, broker_epoch=100, fenced=fenced))


def test_every_declared_record_type_is_replayed() -> None:
    assert set(REPLAYS) == {metadata_record(key) for key in METADATA_RECORDS}


def test_a_change_without_a_leader_bumps_only_the_partition_epoch() -> None:
    image = apply(with_topic(), PartitionChangeRecord(topic_id=TOPIC, partition_id=0, isr=(1,)))

    partition = image.topics.by_id[TOPIC].partitions[0]
    assert (partition.isr, partition.leader) == ((1,), 1)
    assert (partition.leader_epoch, partition.partition_epoch) == (5, 10)


def test_a_change_that_names_the_same_leader_bumps_both_epochs() -> None:
    image = apply(with_topic(), PartitionChangeRecord(topic_id=TOPIC, partition_id=0, leader=1))

    partition = image.topics.by_id[TOPIC].partitions[0]
    assert (partition.leader_epoch, partition.partition_epoch) == (6, 10)


def test_an_image_is_not_changed_by_what_is_applied_to_it() -> None:
    before = with_topic()

    apply(before, RemoveTopicRecord(topic_id=TOPIC))

    assert before == with_topic()


def test_a_deleted_topic_takes_its_configuration_along() -> None:
    config = ConfigRecord(
        resource_type=ResourceType.TOPIC, resource_name="foo", name="retention.ms", value="1"
    )
    image = apply(with_topic(), config)

    assert apply(image, RemoveTopicRecord(topic_id=TOPIC)) == EMPTY


def test_a_config_without_a_value_is_gone() -> None:
    config = ConfigRecord(resource_type=4, resource_name="", name="a", value="1")

    image = apply_all(EMPTY, [config, config.replace(value=None)])

    assert image == EMPTY


@pytest.mark.parametrize(("level", "written"), [(0, None), (1, (3,))])
def test_a_snapshot_has_eligible_leader_replicas_only_with_the_feature(
    level: int, written: tuple[int, ...] | None
) -> None:
    """As ImageWriterOptions of 4.3.1 and 4.4.0: those left over after a downgrade are left out."""
    levels = {METADATA_VERSION: 30, ELIGIBLE_LEADER_REPLICAS: level}
    features = [FeatureLevelRecord(name=name, feature_level=to) for name, to in levels.items()]
    image = apply_all(with_topic(), features)

    (partition,) = (
        record.record for record in image.records() if isinstance(record.record, PartitionRecord)
    )
    assert partition.eligible_leader_replicas == written


@pytest.mark.parametrize("name", ["foo", ""])
def test_eligible_leader_replicas_are_cleared_of_one_topic_or_of_all(name: str) -> None:
    """It is a change of the partition, where there is something to clear."""
    image = apply(with_topic(), ClearElrRecord(topic_name=name))

    partition = image.topics.by_id[TOPIC].partitions[0]
    assert (partition.elr, partition.partition_epoch, partition.leader_epoch) == ((), 10, 5)
    again = apply(image, ClearElrRecord(topic_name=name))
    assert again.topics.by_id[TOPIC].partitions[0].partition_epoch == 10


def test_a_broker_is_active_only_unfenced_and_not_shutting_down() -> None:
    """KIP-841."""
    fenced = with_broker()
    unfenced = apply(
        fenced, BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=100, fenced=-1)
    )
    stopping = apply(
        unfenced,
        BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=100, in_controlled_shutdown=1),
    )

    active = [image.cluster.is_active(1) for image in (EMPTY, fenced, unfenced, stopping)]
    assert active == [False, False, True, False]


def test_records_of_early_kraft_fence_and_unfence() -> None:
    unfenced = apply(with_broker(), UnfenceBrokerRecord(id=1, epoch=100))
    assert not unfenced.cluster.brokers[1].fenced
    assert apply(unfenced, FenceBrokerRecord(id=1, epoch=100)).cluster.brokers[1].fenced


def test_level_0_of_a_feature_is_the_same_as_none() -> None:
    up = FeatureLevelRecord(name="group.version", feature_level=1)

    image = apply_all(EMPTY, [up, up.replace(feature_level=0)])

    assert image == EMPTY


def test_an_aborted_transaction_leaves_nothing_behind() -> None:
    """KIP-868."""
    topic = TopicRecord(name="bar", topic_id=UUID(int=5))
    open_ = apply_all(with_topic(), [BeginTransactionRecord(), topic])

    assert open_.topics.topic("bar") is not None
    assert open_.published == with_topic()
    assert apply(open_, AbortTransactionRecord()) == with_topic()
    assert apply(open_, EndTransactionRecord()) == apply(with_topic(), topic)


def test_a_record_that_is_not_known_is_kept_aside() -> None:
    record = VersionedRecord(record=OpaqueRecord(type=99, body=b"x"), version=3)

    image = apply(with_topic(), record)

    assert list(image.unknown) == [record]
    assert image.topics == with_topic().topics


def test_records_that_are_not_known_cost_the_same_however_many_there_are() -> None:
    record = VersionedRecord(record=OpaqueRecord(type=99, body=b"x"), version=3)

    def seconds(image: MetadataImage) -> float:
        began = process_time()
        for _ in range(2_000):
            image = apply(image, record)
        return process_time() - began

    many = apply_all(EMPTY, [record] * 50_000)
    assert len(many.unknown) == 50_000
    # A tuple that is copied for each of them is 500 times as slow.
    assert min(seconds(many) for _ in range(3)) < 20 * min(seconds(EMPTY) for _ in range(3))


def test_keys_of_a_scram_credential_are_not_printed() -> None:
    record = UserScramCredentialRecord(name="u", mechanism=1, salt=b"salty", stored_key=b"keyed")

    text = repr(apply(EMPTY, record))

    assert "salty" not in text
    assert "keyed" not in text


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (TopicRecord(name="foo", topic_id=UUID(int=1)), "topic foo exists already"),
        (TopicRecord(name="bar", topic_id=TOPIC), "topic bar has the id of another"),
        (PartitionRecord(topic_id=UUID(int=1)), "topic id AAAAAAAAAAAAAAAAAAAAAQ is not known"),
        (PartitionChangeRecord(topic_id=TOPIC, partition_id=7), "topic foo has no partition 7"),
        (RemoveTopicRecord(topic_id=UUID(int=1)), "is not known"),
        (UnregisterBrokerRecord(broker_id=1, broker_epoch=1), "not registered with epoch 1"),
        (UnregisterControllerRecord(controller_id=7), "controller 7 is not registered"),
        (BrokerRegistrationChangeRecord(broker_id=7, broker_epoch=1), "broker 7 is not registered"),
        (
            PartitionChangeRecord(topic_id=TOPIC, partition_id=0, directories=(DIRECTORY,)),
            "1 directories are given for 2 replicas",
        ),
        (EndTransactionRecord(), "ends that did not begin"),
        (AbortTransactionRecord(), "aborted that did not begin"),
    ],
)
def test_a_record_that_does_not_fit_is_refused(record: MetadataRecord, reason: str) -> None:
    with pytest.raises(ReplayError, match=reason):
        apply(with_topic(), record)
