"""The driver of the migration as a conversation: the cases of Java's KRaftMigrationDriverTest."""

import pytest

from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.migration.driver.effects import (
    CopyMetadata,
    FindDifferences,
    RecoverMigration,
    WriteZooKeeper,
)
from kwire.zookeeper import ConnectionLost, NotAuthorized
from tests.support.migration.driver.driver_dialogue import (
    MIGRATION,
    NODE,
    OTHER,
    PRE_MIGRATION,
    READY,
    DriverDialogue,
    ready_controllers,
    topic,
    zk_brokers,
    zookeeper_cluster,
)

ALL_THE_WAY = [
    "INACTIVE",
    "WAIT_FOR_CONTROLLER_QUORUM",
    "WAIT_FOR_BROKERS",
    "BECOME_CONTROLLER",
    "ZK_MIGRATION",
    "SYNC_KRAFT_TO_ZK",
    "KRAFT_CONTROLLER_TO_BROKER_COMM",
    "DUAL_WRITE",
]
"""The states of a migration, as migration.md of Kafka 3.9.1 lists them in their order."""


def test_a_driver_that_learns_of_its_leadership_before_it_started_goes_on() -> None:
    """testOnControllerChangeWhenUninitialized."""
    dialogue = DriverDialogue(zookeeper_cluster())
    dialogue.note_copy()

    dialogue.lead()
    assert dialogue.state == "UNINITIALIZED"
    dialogue.start()

    assert dialogue.state == "WAIT_FOR_CONTROLLER_QUORUM"


@pytest.mark.parametrize("registered", [True, False], ids=["3.7", "3.6"])
def test_brokers_are_told_of_changed_topics_and_nodes_only(
    dialogue: DriverDialogue, registered: bool
) -> None:
    """testOnlySendNeededRPCsToBrokers (KAFKA-14668)."""
    controllers = ready_controllers(4, 5, 6)
    if not registered:
        controllers = [FeatureLevelRecord(name="metadata.version", feature_level=14)]
    dialogue.start().lead()
    dialogue.publish(*controllers, PRE_MIGRATION, *zk_brokers(1, 2, 3), at=100)
    assert dialogue.passed == ALL_THE_WAY
    assert dialogue.sent == ["full"]

    config = ConfigRecord(resource_type=4, resource_name="1", name="foo", value="bar")
    dialogue.publish(config, at=120)
    assert dialogue.sent == ["full"]

    shutdown = BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=1, in_controlled_shutdown=1)
    dialogue.publish(shutdown, at=130)
    assert dialogue.sent == ["full", "changes"]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (NotAuthorized("/controller"), "Encountered ZooKeeper authentication"),
        (ConnectionLost("lost"), "Will retry"),
    ],
    ids=["rights", "connection"],
)
def test_a_claim_that_fails_is_made_again(
    dialogue: DriverDialogue, error: ConnectionLost, line: str
) -> None:
    """testMigrationWithClientException."""
    dialogue.errors[WriteZooKeeper] = [error] * 3
    dialogue.start().lead().publish(*READY, at=100)

    assert dialogue.state == "BECOME_CONTROLLER"
    dialogue.wait(3)
    assert dialogue.state == "DUAL_WRITE"
    assert len([text for text in dialogue.lines if line in text]) == 3


def test_a_zookeeper_that_is_down_at_the_start_is_asked_again(dialogue: DriverDialogue) -> None:
    """testMigrationWithClientExceptionWhileMigratingZnodeCreation."""
    dialogue.errors[RecoverMigration] = [ConnectionLost("lost")] * 3
    dialogue.start().lead().publish(*READY, at=100)
    assert dialogue.state == "UNINITIALIZED"

    dialogue.wait(2)
    assert dialogue.state == "UNINITIALIZED"
    dialogue.wait()
    assert dialogue.passed == ALL_THE_WAY


@pytest.mark.parametrize("registered", [True, False], ids=["not ready", "not registered"])
def test_the_quorum_is_waited_for(dialogue: DriverDialogue, registered: bool) -> None:
    """testShouldNotMoveToNextStateIfControllerNodesAreNotReadyToMigrate."""
    controllers = ready_controllers(4, 5, 6, ready=False) if registered else ready_controllers(4, 5)
    dialogue.start().lead()
    dialogue.publish(*controllers, PRE_MIGRATION, *zk_brokers(1, 2, 3), at=100)
    assert dialogue.state == "WAIT_FOR_CONTROLLER_QUORUM"

    dialogue.publish(*ready_controllers(4, 5, 6), at=200)
    assert dialogue.state == "DUAL_WRITE"


def test_brokers_are_not_waited_for_after_the_copy() -> None:
    """testSkipWaitForBrokersInDualWrite."""
    dialogue = DriverDialogue(zookeeper_cluster())
    dialogue.note_copy()
    dialogue.start().lead().publish(*READY, MIGRATION, at=100)

    assert dialogue.passed == [*ALL_THE_WAY[:2], "BECOME_CONTROLLER", *ALL_THE_WAY[5:]]


@pytest.mark.parametrize("snapshot", [True, False], ids=["snapshot", "delta"])
def test_changes_are_written_to_zookeeper(snapshot: bool) -> None:
    """testTopicDualWriteSnapshot, testTopicDualWriteDelta."""
    dialogue = DriverDialogue(zookeeper_cluster(1, 2, 3, topics=["foo", "bar"]))
    dialogue.start().lead().publish(*READY, topic("foo"), topic("bar"), at=100)
    assert dialogue.topics == ["bar", "foo"]

    deleted = RemoveTopicRecord(topic_id=topic("foo").topic_id)
    dialogue.publish(deleted, topic("baz"), at=200, snapshot=snapshot)

    assert dialogue.topics == ["bar", "baz"]
    assert dialogue.sent == ["full", "full" if snapshot else "changes"]
    assert dialogue.migration.kraft_metadata_offset == 200


def test_nothing_is_written_before_the_copy(dialogue: DriverDialogue) -> None:
    """testNoDualWriteBeforeMigration: what came meanwhile is written by the synchronisation."""
    dialogue.holds = CopyMetadata
    dialogue.start().lead().publish(*READY, at=100)
    dialogue.publish(topic("meanwhile"), at=200, snapshot=True)
    assert dialogue.state == "ZK_MIGRATION"
    assert dialogue.topics == []

    dialogue.release()
    assert dialogue.state == "DUAL_WRITE"
    assert dialogue.topics == ["meanwhile"]


def test_brokers_get_the_whole_image_before_any_change(dialogue: DriverDialogue) -> None:
    """In Java a change that was published during the synchronisation overtakes it."""
    dialogue.holds = FindDifferences
    dialogue.start().lead().publish(*READY, at=100)
    dialogue.publish(topic("meanwhile"), at=101)
    dialogue.release()

    assert dialogue.sent == ["full", "changes"]
    assert dialogue.topics == ["meanwhile"]


def test_a_standby_takes_over(dialogue: DriverDialogue) -> None:
    """testControllerFailover."""
    dialogue.start().lead(OTHER).publish(*READY, topic("foo"), MIGRATION, at=100)
    dialogue.note_copy()
    dialogue.publish(topic("bar"), at=200)
    assert dialogue.state == "INACTIVE"
    assert dialogue.topics == []

    dialogue.lead(NODE, epoch=2)

    assert dialogue.state == "DUAL_WRITE"
    assert dialogue.topics == ["bar", "foo"]


def test_the_copy_begins_once(dialogue: DriverDialogue) -> None:
    """testBeginMigrationOnce."""
    dialogue.holds = CopyMetadata
    dialogue.start().lead().publish(*READY, at=100).publish(*zk_brokers(1), at=101)
    dialogue.release()

    assert dialogue.state == "DUAL_WRITE"
    assert len([request for request in dialogue.asked if type(request) is CopyMetadata]) == 1
