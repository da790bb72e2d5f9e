"""The driver when ZooKeeper, its claim or its leadership fails it."""

from itertools import pairwise

import pytest

from kwire.errors import KwireError
from kwire.image.features import ZkMigrationState
from kwire.messages.records.no_op import NoOpRecord
from kwire.migration.driver.driver_core import poll_delay
from kwire.migration.driver.effects import (
    CheckCopy,
    CopyMetadata,
    DriverRequest,
    EndProcess,
    FindDifferences,
    ForgetBrokers,
    ReadBrokerIds,
    ReadZkController,
    RecoverMigration,
    WriteZooKeeper,
)
from kwire.migration.driver.writing import CopyFailed, LeadershipLost
from kwire.zookeeper import ConnectionLost, Create, Delete, InvalidZnode, SessionExpired, SetData
from kwire.zookeeper.znodes.controller import ControllerZnode
from migrating.memory_zookeeper import Loss
from tests.support.migration.driver.driver_dialogue import (
    MIGRATION,
    NODE,
    OTHER,
    READY,
    DriverDialogue,
    migration_state,
    ready_controllers,
    topic,
    zk_brokers,
    zookeeper_cluster,
)


def lose(dialogue: DriverDialogue, *losses: Loss | None) -> None:
    """Lose the connection at the next multis, one entry each."""
    left = list(losses)
    dialogue.zookeeper.lose = lambda session, operations: left.pop(0) if left else None


def new_controller(dialogue: DriverDialogue, epoch: int) -> None:
    """Let broker 2 become the ZooKeeper controller, as Kafka's brokers do."""
    controller = ControllerZnode(broker_id=2, timestamp_ms=9)
    dialogue.write(
        Delete("/controller"),
        Create("/controller", controller.encode(), ephemeral=True),
        SetData("/controller_epoch", str(epoch).encode()),
    )


def test_polls_are_doubled_up_to_a_minute() -> None:
    """Java: ExponentialBackoff(100, 2, 60000)."""
    delays = [poll_delay(polls) for polls in range(12)]
    assert delays == [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 60000, 60000]


def test_a_state_is_polled_later_and_later_and_at_once_after_a_transition(
    dialogue: DriverDialogue,
) -> None:
    dialogue.start().lead().publish(*ready_controllers(4, 5, 6), at=100)
    assert dialogue.driver.deadline is None  # NONE: inactive for good

    dialogue = DriverDialogue(zookeeper_cluster())
    dialogue.start().lead().publish(*READY, at=100)
    times = []
    for _ in range(3):
        dialogue.wait()
        times.append(dialogue.now)
    assert [later - earlier for earlier, later in pairwise(times)] == [200, 400]

    dialogue.write(Create("/brokers/ids/1"))
    dialogue.wait()
    assert dialogue.state == "DUAL_WRITE"


@pytest.mark.parametrize("state", [ZkMigrationState.NONE, ZkMigrationState.POST_MIGRATION])
def test_a_cluster_that_is_not_migrated_is_left_alone(
    dialogue: DriverDialogue, state: ZkMigrationState
) -> None:
    dialogue.start().lead().publish(*ready_controllers(4, 5, 6), migration_state(state), at=100)

    assert dialogue.passed == ["INACTIVE", "WAIT_FOR_CONTROLLER_QUORUM", "INACTIVE"]
    assert state.name in dialogue.lines[-2]
    assert dialogue.controller.broker_id == 1


def test_a_state_of_a_later_release_is_told_by_its_number(dialogue: DriverDialogue) -> None:
    dialogue.start().lead().publish(*ready_controllers(4, 5, 6), migration_state(9), at=100)

    assert dialogue.state == "INACTIVE"
    assert "The ZkMigrationState is 9: " in dialogue.lines[-2]


def test_brokers_of_assignments_are_waited_for_after_those_that_run(
    dialogue: DriverDialogue,
) -> None:
    dialogue.start().lead().publish(*ready_controllers(4, 5, 6), *READY[4:5], at=100)
    assert dialogue.lines[-1] == "No brokers are known to KRaft, waiting for brokers to register."

    dialogue.publish(*zk_brokers(1), at=101)
    assert dialogue.lines[-1] == "Still waiting for ZK brokers [2, 3] to register with KRaft."

    dialogue.assigned = frozenset({1, 9})
    dialogue.publish(*zk_brokers(2, 3), at=102)
    missing = "Still waiting for ZK brokers [9] found in metadata to register."
    assert dialogue.lines[-1] == missing
    assert dialogue.state == "WAIT_FOR_BROKERS"

    dialogue.publish(*zk_brokers(9), at=103)
    assert dialogue.state == "DUAL_WRITE"


def test_a_broker_that_has_only_a_configuration_is_not_waited_for(
    dialogue: DriverDialogue,
) -> None:
    """The KIP waits for it, and Kafka 3.9 does not."""
    dialogue.write(Create("/config"), Create("/config/brokers"), Create("/config/brokers/9"))
    dialogue.start().lead().publish(*READY, at=100)
    assert dialogue.state == "DUAL_WRITE"


def test_the_claim_raises_the_epoch_and_makes_the_controller_persistent(
    dual_writing: DriverDialogue,
) -> None:
    assert dual_writing.controller_epoch == 8
    assert dual_writing.controller == ControllerZnode(
        broker_id=NODE, timestamp_ms=1_000, kraft_epoch=1
    )
    controller = dual_writing.zookeeper.stat("/controller")
    assert controller is not None
    assert controller.ephemeral_owner == 0


def test_a_cluster_without_a_controller_epoch_is_not_claimed(dialogue: DriverDialogue) -> None:
    dialogue.write(Delete("/controller_epoch"), Delete("/controller"))
    dialogue.start().lead().publish(*READY, at=100)

    assert dialogue.state == "BECOME_CONTROLLER"
    assert "no ZooKeeper controller ever ran here" in dialogue.lines[-1]
    assert dialogue.zookeeper.stat("/controller") is None


def test_a_later_kraft_controller_is_not_overwritten(dialogue: DriverDialogue) -> None:
    later = ControllerZnode(broker_id=OTHER, timestamp_ms=9, kraft_epoch=2)
    dialogue.write(Delete("/controller"), Create("/controller", later.encode()))
    dialogue.start().lead(epoch=2).publish(*READY, at=100)

    assert dialogue.state == "BECOME_CONTROLLER"
    assert dialogue.controller == later
    assert dialogue.controller_epoch == 7


@pytest.mark.parametrize("loss", Loss)
def test_a_claim_whose_answer_is_lost_is_found_again(dialogue: DriverDialogue, loss: Loss) -> None:
    """In Java the controller finds its own epoch in /controller, and never leads."""
    dialogue.start()
    lose(dialogue, loss)
    dialogue.lead().publish(*READY, at=100)
    assert dialogue.state == "BECOME_CONTROLLER"

    dialogue.wait()
    assert dialogue.state == "DUAL_WRITE"
    assert dialogue.controller_epoch == 8


@pytest.mark.parametrize("loss", Loss)
@pytest.mark.parametrize("number", range(2))
def test_a_dual_write_whose_answer_is_lost_is_made_good(
    dual_writing: DriverDialogue, loss: Loss, number: int
) -> None:
    """In Java the change is missing in ZooKeeper until another leader is elected."""
    lose(dual_writing, *[None] * number, loss)
    dual_writing.publish(topic("foo"), at=101)
    assert dual_writing.state == "BECOME_CONTROLLER"

    dual_writing.wait()
    assert dual_writing.state == "DUAL_WRITE"
    assert dual_writing.topics == ["foo"]
    assert dual_writing.sent == ["full", "full"]

    dual_writing.publish(NoOpRecord(), at=102)
    assert dual_writing.migration.kraft_metadata_offset == 102


@pytest.mark.parametrize("loss", Loss)
def test_a_copy_whose_note_is_lost_is_not_made_twice(dialogue: DriverDialogue, loss: Loss) -> None:
    """In Java the process ends, and no later leader may go on."""
    dialogue.start()
    lose(dialogue, None, loss)
    dialogue.lead().publish(*READY, at=100)
    assert dialogue.state == "BECOME_CONTROLLER"

    dialogue.wait()
    assert dialogue.state == "DUAL_WRITE"
    assert dialogue.migration.kraft_metadata_offset == 100
    assert len([request for request in dialogue.asked if type(request) is CopyMetadata]) == 1


def test_a_successor_goes_on_after_a_copy_that_was_not_noted(dialogue: DriverDialogue) -> None:
    """In Java: "KRaft controller indicates an active migration, but the ZK state does not"."""
    dialogue.start()
    lose(dialogue, None, Loss.BEFORE)
    dialogue.lead().publish(*READY, at=100)
    assert dialogue.state == "BECOME_CONTROLLER"

    successor = DriverDialogue(dialogue.zookeeper, node_id=OTHER)
    successor.start().publish(*READY, topic("copied"), MIGRATION, at=120).lead(OTHER, epoch=2)

    assert successor.state == "DUAL_WRITE"
    assert successor.topics == ["copied"]
    assert CopyMetadata not in [type(request) for request in successor.asked]


def test_a_log_of_a_migration_that_was_taken_back_is_not_written_to_zookeeper(
    dialogue: DriverDialogue,
) -> None:
    dialogue.start().publish(*READY, topic("of the past"), MIGRATION, at=120).lead()

    assert dialogue.state == "INACTIVE"
    assert "but the ZK state does not" in dialogue.lines[-2]
    assert dialogue.topics == []
    assert dialogue.controller.broker_id == 1


def test_nothing_is_deleted_for_a_migration_that_was_left_over() -> None:
    """Kafka 3.9.1 synchronises, and ZooKeeper has no topics any more (test_left_over_migration)."""
    dialogue = DriverDialogue(zookeeper_cluster(1, 2, 3, topics=["kept"]))
    dialogue.note_copy(offset=20)
    dialogue.start().lead().publish(*READY, at=100)
    dialogue.wait(2)

    assert dialogue.state == "WAIT_FOR_CONTROLLER_QUORUM"
    assert "/migration says that a copy was made" in dialogue.lines[-1]
    assert (dialogue.topics, dialogue.controller.broker_id) == (["kept"], 1)

    dialogue.write(Delete("/migration"))
    dialogue.wait(2)
    assert dialogue.state == "DUAL_WRITE"
    assert CopyMetadata in [type(request) for request in dialogue.asked]


def test_an_image_that_shows_the_copy_late_ends_the_wait(dialogue: DriverDialogue) -> None:
    dialogue.note_copy()
    dialogue.start().lead().publish(*READY, at=90)
    assert dialogue.state == "WAIT_FOR_CONTROLLER_QUORUM"

    dialogue.publish(MIGRATION, at=100)
    assert dialogue.state == "DUAL_WRITE"
    assert CopyMetadata not in [type(request) for request in dialogue.asked]


def test_a_zookeeper_controller_that_comes_back_is_not_overwritten_unnoticed(
    dual_writing: DriverDialogue,
) -> None:
    new_controller(dual_writing, epoch=9)
    dual_writing.publish(topic("foo"), at=101)

    assert any("another controller has taken over ZooKeeper" in line for line in dual_writing.lines)
    assert dual_writing.topics == []
    assert dual_writing.controller.broker_id == 2

    dual_writing.wait()
    assert dual_writing.state == "DUAL_WRITE"
    assert dual_writing.controller_epoch == 10
    assert dual_writing.topics == ["foo"]


def test_a_newer_leader_of_the_quorum_fences_the_older(dual_writing: DriverDialogue) -> None:
    newer = DriverDialogue(dual_writing.zookeeper, node_id=OTHER)
    newer.start().publish(*READY, MIGRATION, at=100).lead(OTHER, epoch=2)
    assert newer.state == "DUAL_WRITE"

    dual_writing.publish(topic("late"), at=101)
    assert newer.topics == []
    dual_writing.wait(3)
    assert dual_writing.state == "BECOME_CONTROLLER"
    assert newer.controller.broker_id == OTHER

    newer.publish(topic("new"), at=102)
    assert newer.topics == ["new"]
    dual_writing.lead(OTHER, epoch=2)
    assert dual_writing.state == "INACTIVE"


def test_a_migration_that_is_taken_back_is_not_claimed_again(dual_writing: DriverDialogue) -> None:
    """Rollback: /controller and /migration are deleted, and a broker becomes controller."""
    new_controller(dual_writing, epoch=9)
    dual_writing.write(Delete("/migration"))

    dual_writing.publish(topic("foo"), at=101)
    dual_writing.wait()

    assert dual_writing.state == "INACTIVE"
    assert dual_writing.controller.broker_id == 2
    assert dual_writing.controller_epoch == 9
    assert dual_writing.zookeeper.stat("/migration") is None
    assert dual_writing.driver.deadline is None


def test_a_znode_that_is_missing_in_dual_write_is_made_by_a_synchronisation(
    dual_writing: DriverDialogue,
) -> None:
    dual_writing.publish(topic("foo"), at=101)
    dual_writing.write(Delete("/brokers/topics/foo"))
    dual_writing.errors[WriteZooKeeper] = [InvalidZnode("/brokers/topics/foo", "is odd")]
    dual_writing.publish(topic("bar"), at=102)

    dual_writing.wait()
    assert dual_writing.state == "DUAL_WRITE"
    assert dual_writing.topics == ["bar", "foo"]


def test_failures_are_repeated_later_and_later(dual_writing: DriverDialogue) -> None:
    dual_writing.errors[FindDifferences] = [ConnectionLost("lost")] * 4
    lose(dual_writing, Loss.BEFORE)
    dual_writing.publish(topic("foo"), at=101)
    times = [dual_writing.now]
    for _ in range(5):
        dual_writing.wait()
        times.append(dual_writing.now)

    assert dual_writing.state == "DUAL_WRITE"
    assert [later - earlier for earlier, later in pairwise(times)] == [100, 200, 400, 800, 1600]


@pytest.mark.parametrize(
    ("request_type", "state"),
    [
        (RecoverMigration, "INACTIVE"),
        (ReadBrokerIds, "WAIT_FOR_BROKERS"),
        (ReadZkController, "BECOME_CONTROLLER"),
        (CheckCopy, "WAIT_FOR_BROKERS"),
        (CopyMetadata, "BECOME_CONTROLLER"),
        (FindDifferences, "BECOME_CONTROLLER"),
    ],
)
def test_an_expired_session_is_survived_in_every_state(
    dialogue: DriverDialogue, request_type: type[DriverRequest], state: str
) -> None:
    dialogue.start()
    dialogue.errors[request_type] = [SessionExpired("expired")]
    dialogue.lead().publish(*READY, at=100)
    assert dialogue.state == state

    dialogue.wait()
    assert dialogue.state == "DUAL_WRITE"


@pytest.mark.parametrize(
    "request_type",
    [RecoverMigration, ReadBrokerIds, CheckCopy, ReadZkController, CopyMetadata, FindDifferences],
)
def test_another_leader_is_followed_after_the_operation_under_way(
    dialogue: DriverDialogue, request_type: type[DriverRequest]
) -> None:
    dialogue.start()
    dialogue.holds = request_type
    dialogue.lead().publish(*READY, at=100)
    dialogue.lead(OTHER, epoch=2)
    dialogue.release()

    assert dialogue.state == "INACTIVE"
    assert dialogue.driver.leadership.kraft_controller_id == OTHER
    assert not dialogue.driver.leadership.has_claim
    assert "full" not in dialogue.sent


def test_a_leader_that_is_elected_again_begins_anew(dual_writing: DriverDialogue) -> None:
    dual_writing.lead(None, epoch=2)
    assert dual_writing.state == "INACTIVE"
    assert dual_writing.of(ForgetBrokers)

    dual_writing.publish(MIGRATION, at=110, epoch=2).lead(NODE, epoch=3)
    assert dual_writing.state == "DUAL_WRITE"
    assert dual_writing.controller_epoch == 9
    assert dual_writing.controller.kraft_epoch == 3


def test_the_process_ends_if_the_copy_fails_in_its_middle(dialogue: DriverDialogue) -> None:
    failure = CopyFailed("a record does not fit")
    dialogue.errors[CopyMetadata] = [failure]
    dialogue.start().lead().publish(*READY, at=100)

    assert dialogue.of(EndProcess) == [EndProcess(reason=str(failure))]


@pytest.mark.parametrize(
    "error",
    [
        LeadershipLost("it leads no more"),
        ConnectionLost("lost"),
        InvalidZnode("/brokers/topics/old", "it has no topic_id"),
    ],
    ids=["leadership", "connection", "znode"],
)
def test_the_process_goes_on_if_another_leader_aborts_the_copy_or_nothing_was_copied(
    dialogue: DriverDialogue, error: KwireError
) -> None:
    dialogue.errors[CopyMetadata] = [error]
    dialogue.start().lead().publish(*READY, at=100)

    assert not dialogue.of(EndProcess)
    assert dialogue.state == (
        "ZK_MIGRATION" if isinstance(error, LeadershipLost) else "BECOME_CONTROLLER"
    )
    dialogue.wait()
    assert dialogue.state == "DUAL_WRITE"


def test_a_copy_that_failed_is_claimed_again_before_it_is_repeated(
    dialogue: DriverDialogue,
) -> None:
    """Meanwhile a broker may have taken /controller, and have changed what was read."""
    dialogue.errors[CopyMetadata] = [ConnectionLost("lost")]
    dialogue.start().lead().publish(*READY, at=100)
    broker = ControllerZnode(broker_id=2, timestamp_ms=9)
    dialogue.write(
        Delete("/controller"),
        SetData("/controller_epoch", b"9"),
        Create("/controller", broker.encode(), ephemeral=True),
    )
    asked = len(dialogue.asked)
    dialogue.wait()

    kinds = [type(request) for request in dialogue.asked[asked:]]
    assert kinds.index(ReadZkController) < kinds.index(CopyMetadata)
    assert (dialogue.state, dialogue.controller_epoch) == ("DUAL_WRITE", 10)
    assert dialogue.controller.broker_id == NODE


def test_zookeeper_is_not_claimed_while_it_cannot_be_copied(dialogue: DriverDialogue) -> None:
    broken = InvalidZnode("/config/users/eve", "no JSON")
    dialogue.errors[CheckCopy] = [broken]
    before = dialogue.controller
    dialogue.start().lead().publish(*READY, at=100)

    assert dialogue.state == "WAIT_FOR_BROKERS"
    assert dialogue.controller == before
    assert "/config/users/eve" in dialogue.lines[-1]
    dialogue.wait()
    assert dialogue.state == "DUAL_WRITE"


def test_failures_of_an_earlier_leadership_do_not_slow_down_the_next(
    dual_writing: DriverDialogue,
) -> None:
    dual_writing.errors[FindDifferences] = [ConnectionLost("lost")] * 4
    lose(dual_writing, Loss.BEFORE)
    dual_writing.publish(topic("foo"), at=101)
    while dual_writing.state == "BECOME_CONTROLLER":
        dual_writing.wait()
    dual_writing.errors[FindDifferences] = [ConnectionLost("lost")] * 4
    lose(dual_writing, Loss.BEFORE)
    dual_writing.publish(topic("bar"), at=102).lead(None, epoch=2)
    dual_writing.publish(MIGRATION, at=110, epoch=2)
    dual_writing.errors[FindDifferences] = [ConnectionLost("lost")]
    dual_writing.lead(NODE, epoch=3)
    assert dual_writing.state == "BECOME_CONTROLLER"
    assert dual_writing.driver.deadline == dual_writing.now + 100


def test_an_image_that_zookeeper_already_has_is_not_written(dialogue: DriverDialogue) -> None:
    dialogue.note_copy(offset=150, epoch=1)
    dialogue.start().lead(epoch=2).publish(*READY, MIGRATION, at=120)
    assert dialogue.state == "SYNC_KRAFT_TO_ZK"

    dialogue.publish(topic("foo"), at=151)
    assert dialogue.state == "DUAL_WRITE"
    assert dialogue.topics == ["foo"]
