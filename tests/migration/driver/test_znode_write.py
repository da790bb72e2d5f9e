"""A refused write to ZooKeeper becomes another one; Kafka finds out by trying (KIP-866)."""

from __future__ import annotations

from msgspec.structs import replace

from kwire.migration.driver.znode_write import LARGEST_MULTI, ZnodeWrite
from kwire.zookeeper import BadVersion, Create, Delete, NodeExists, NoNode, NotEmpty, SetData
from kwire.zookeeper.operations import ZnodeOperation


def write(*operations: ZnodeOperation, folders: tuple[str, ...] = ()) -> ZnodeWrite:
    return ZnodeWrite(
        type="UpdateTopic", description="Changed Topic a", operations=operations, folders=folders
    )


def test_a_znode_that_is_not_there_is_created_instead_of_set() -> None:
    refused = write(SetData("/a/b", b"1"), SetData("/d", b"2"))

    instead = refused.after_refusal(0, NoNode("/a/b"))

    assert instead is not None
    assert instead.operations == (Create("/a/b", b"1"), SetData("/d", b"2"))


def test_a_missing_folder_is_created() -> None:
    folders = ("/a", "/a/b", "/a/c")
    refused = write(SetData("/d", b"2"), Create("/a/b/c", b"1"), folders=folders)

    instead = refused.after_refusal(1, NoNode("/a/b/c"))

    assert instead is not None
    assert instead.operations == (
        SetData("/d", b"2"),
        Create("/a"),
        Create("/a/b"),
        Create("/a/b/c", b"1"),
    )


def test_no_other_znode_is_created_above_one() -> None:
    refused = write(Create("/topics/a/partitions"), folders=("/topics/a/partitions",))
    assert refused.after_refusal(0, NoNode("/topics/a/partitions")) is None


def test_znodes_that_are_there_are_set_instead_of_created() -> None:
    refused = write(Create("/a"), Create("/a/b", b"1"), Create("/a/c"), Create("/a/c/d", b"2"))

    instead = refused.after_refusal(1, NodeExists("/a/b"))

    assert instead is not None
    assert instead.operations == (Create("/a"), SetData("/a/b", b"1"), SetData("/a/c/d", b"2"))


def test_only_the_folder_that_is_there_is_not_created() -> None:
    instead = write(Create("/a"), Create("/a/b"), Create("/a/b/c", b"1")).after_refusal(
        0, NodeExists("/a")
    )

    assert instead is not None
    assert instead.operations == (Create("/a/b"), Create("/a/b/c", b"1"))


def test_a_topic_that_is_deleted_already_is_read_once() -> None:
    refused = ZnodeWrite(
        type="DeleteTopic",
        description="Deleted Topic a",
        operations=(Delete("/t/a/p/0"), Delete("/t/a/p"), Delete("/c/a"), Delete("/t/a")),
        removed="/t/a",
    )

    reading = refused.after_refusal(0, NoNode("/t/a/p/0"))

    assert reading is not None
    assert reading.tree == "/t/a"
    (emptied,) = reading.emptied(["/t/a/p", "/t/a/p/7"])
    assert emptied.operations == (
        Delete("/t/a/p/7"),
        Delete("/t/a/p"),
        Delete("/c/a"),
        Delete("/t/a"),
    )
    assert emptied.after_refusal(2, NoNode("/c/a")) == write_like(
        emptied, Delete("/t/a/p/7"), Delete("/t/a/p"), Delete("/t/a")
    )


def write_like(other: ZnodeWrite, *operations: ZnodeOperation) -> ZnodeWrite:
    return replace(other, operations=operations)


def test_a_znode_that_is_gone_need_not_be_deleted() -> None:
    instead = write(Delete("/a/b"), Delete("/a")).after_refusal(0, NoNode("/a/b"))

    assert instead is not None
    assert instead.operations == (Delete("/a"),)


def test_a_znode_with_unknown_children_is_read_and_emptied() -> None:
    refused = write(Delete("/t/p/0/state"), Delete("/t/p/0"), Delete("/t/p"), Delete("/t"))

    reading = refused.after_refusal(2, NotEmpty("/t/p"))

    assert reading is not None
    assert reading.tree == "/t/p"
    (emptied,) = reading.emptied(["/t/p/0", "/t/p/0/state", "/t/p/1", "/t/p/1/state"])
    assert emptied.tree is None
    assert emptied.operations == (
        Delete("/t/p/1/state"),
        Delete("/t/p/1"),
        Delete("/t/p/0/state"),
        Delete("/t/p/0"),
        Delete("/t/p"),
        Delete("/t"),
    )


def test_nobody_is_notified_if_nothing_was_there_to_be_deleted() -> None:
    notified = replace(write(Delete("/a")), notifications=(Create("/n", sequential=True),))
    assert notified.after_refusal(0, NoNode("/a")) == write()


def test_another_refusal_is_an_error() -> None:
    assert write(SetData("/a", b"")).after_refusal(0, BadVersion("/a")) is None


def test_a_write_that_does_not_fit_into_a_request_has_parts_and_notifies_once() -> None:
    operations = [Create(f"/a/{number}", b"x" * 1000) for number in range(1200)]
    whole = ZnodeWrite(
        type="CreateTopic",
        description="Created Topic a",
        operations=tuple(operations),
        notifications=(Create("/n/", b"", sequential=True),),
    )

    parts = whole.parts()

    assert [operation for part in parts for operation in part.operations] == operations
    sizes = [sum(len(item.path) + 1000 for item in part.operations) for part in parts]
    assert max(sizes) <= LARGEST_MULTI < sum(sizes)
    assert [len(part.notifications) for part in parts] == [0, 0, 1]
    assert write(Delete("/a")).parts() == (write(Delete("/a")),)
