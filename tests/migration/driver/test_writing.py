"""The steps of one write to ZooKeeper, behind both fences."""

from kwire.migration.driver.effects import ReadTree, WriteZooKeeper
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.zookeeper import CheckVersion, Create, Delete, SetData
from tests.support.migration.driver.driver_dialogue import (
    READY,
    DriverDialogue,
    topic,
    zookeeper_cluster,
)


def written(write: ZnodeWrite) -> tuple[DriverDialogue, list[tuple[object, ...]]]:
    """Return a driver that carried out a write, and the multis after its claim."""
    dialogue = DriverDialogue(zookeeper_cluster(1, 2, 3))
    dialogue.start().lead().publish(*READY, at=100)
    asked = len(dialogue.asked)
    dialogue.dual_write = lambda changes, epoch: [write]
    dialogue.publish(topic("any"), at=101)
    requests = [
        request for request in dialogue.asked[asked:] if isinstance(request, WriteZooKeeper)
    ]
    return dialogue, [request.operations for request in requests]


def test_a_write_is_fenced_by_both_znodes() -> None:
    operation = Create("/brokers/topics/foo", b"{}")
    dialogue, multis = written(ZnodeWrite(type="", description="", operations=(operation,)))

    epoch, migration, *rest = multis[0]
    assert epoch == CheckVersion("/controller_epoch", 1)
    assert isinstance(migration, SetData)
    assert (migration.path, migration.version) == ("/migration", 3)
    assert rest == [operation]
    # The last one notes the offset.
    noted = multis[1][1]
    assert isinstance(noted, SetData)
    assert noted.version == 4
    assert dialogue.migration.kraft_metadata_offset == 101


def test_a_folder_that_is_missing_is_created_with_the_write() -> None:
    operation = SetData("/config/users/alice", b"{}")
    folders = ("/config", "/config/users")
    write = ZnodeWrite(type="", description="", operations=(operation,), folders=folders)
    dialogue, multis = written(write)

    assert dialogue.state == "DUAL_WRITE"
    assert dialogue.zookeeper.read("/config/users/alice").data == b"{}"
    created = [Create("/config"), Create("/config/users"), Create("/config/users/alice", b"{}")]
    assert list(multis[-2][2:]) == created


def test_a_notification_is_made_with_its_write() -> None:
    """Else a lost connection between them would leave brokers with what they had."""
    notification = Create("/brokers/notice_", sequential=True)
    operation = Create("/brokers/topics/foo", b"{}")
    write = ZnodeWrite(
        type="", description="", operations=(operation,), notifications=(notification,)
    )
    dialogue, multis = written(write)

    assert [multi[2:] for multi in multis if notification in multi] == [(operation, notification)]
    assert dialogue.zookeeper.stat("/brokers/notice_0000000002") is not None


def test_no_broker_watches_for_a_notification_without_a_parent() -> None:
    notification = Create("/config/changes/config_change_", sequential=True)
    write = ZnodeWrite(type="", description="", operations=(), notifications=(notification,))
    dialogue, _ = written(write)

    assert dialogue.state == "DUAL_WRITE"
    assert dialogue.migration.kraft_metadata_offset == 101


def test_a_znode_that_has_children_is_deleted_with_them() -> None:
    write = ZnodeWrite(type="", description="", operations=(Delete("/brokers/ids"),))
    dialogue, _ = written(write)

    assert ReadTree(path="/brokers/ids") in dialogue.asked
    assert dialogue.zookeeper.stat("/brokers/ids") is None


def test_a_write_that_was_left_out_is_in_the_log() -> None:
    write = ZnodeWrite(
        type="", description="Left out, as ZooKeeper has no such names: a/b", operations=()
    )
    dialogue, multis = written(write)
    assert any("a/b" in line for line in dialogue.lines)
    assert len(multis) == 1  # the note of the offset
