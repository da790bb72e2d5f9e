"""One contract for every ZooKeeper: kazoo with a real one, and the one in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kwire.zookeeper import (
    BadVersion,
    CheckVersion,
    ConnectionLost,
    Create,
    Delete,
    InvalidPath,
    MultiFailed,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    SetData,
    UnknownRefusal,
    WatchEvent,
    ZnodeChange,
    ZnodeOperation,
    ZnodeStat,
    ZooKeeper,
    ZooKeeperError,
)

OpenSession = Callable[[], Awaitable[ZooKeeper]]


class Events:
    """The events of watches, to wait for."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[WatchEvent] = asyncio.Queue()

    def __call__(self, event: WatchEvent) -> None:
        self.queue.put_nowait(event)

    async def next(self) -> tuple[str, str]:
        """Return the change and the path of the next event."""
        event = await asyncio.wait_for(self.queue.get(), 60)
        return event.change.value, event.path


async def test_a_znode_is_created_set_read_and_deleted(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    assert await zookeeper.multi([Create("/a", b"one")]) == ["/a"]
    (stat,) = await zookeeper.multi([SetData("/a", b"two", 0)])
    znode = await zookeeper.get("/a")
    assert znode.data == b"two"
    assert isinstance(stat, ZnodeStat)
    assert stat == await zookeeper.exists("/a")
    assert (znode.version, znode.children_version, znode.children_count) == (1, 0, 0)
    assert znode.ephemeral_owner == 0
    assert znode.modified_zxid > znode.created_zxid
    assert await zookeeper.multi([Delete("/a", 1)]) == [None]
    assert await zookeeper.exists("/a") is None


async def test_data_of_no_bytes_is_not_null(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    await zookeeper.multi([Create("/a", b"")])
    znode = await zookeeper.get("/a")
    assert (znode.data, znode.is_null) == (b"", False)


async def test_a_new_server_has_znodes_of_its_own(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    assert "zookeeper" in await zookeeper.children("/")
    assert await zookeeper.children("/zookeeper") == ["config", "quota"]


async def test_a_version_begins_at_zero_after_each_creation(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    await zookeeper.multi([Create("/a"), SetData("/a", b"1"), SetData("/a", b"2", 1)])
    await zookeeper.multi([Delete("/a", 2), Create("/a")])
    assert (await zookeeper.get("/a")).version == 0


async def test_a_multi_sees_its_own_earlier_operations(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    results = await zookeeper.multi(
        [Create("/a"), Create("/a/b"), CheckVersion("/a", 0), SetData("/a", b"x"), Delete("/a/b")]
    )
    assert results[:3] == ["/a", "/a/b", None]
    assert isinstance(results[3], ZnodeStat)
    assert (results[3].version, results[3].children_count, results[4]) == (1, 1, None)


async def test_a_multi_of_nothing_does_nothing(open_session: OpenSession) -> None:
    assert await (await open_session()).multi([]) == []


async def test_setting_data_in_a_multi_any_version_fits(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    await zookeeper.multi([Create("/a"), SetData("/a", b"1", -1), SetData("/a", b"2", -1)])
    await zookeeper.multi([CheckVersion("/a", -1), Delete("/a", -1)])


REFUSED: list[tuple[list[ZnodeOperation], int, type[ZooKeeperError]]] = [
    ([Create("/a/b")], 0, NodeExists),
    ([Create("/")], 0, NodeExists),
    ([Create("/x/y")], 0, NoNode),
    ([SetData("/x", b"")], 0, NoNode),
    ([Delete("/x")], 0, NoNode),
    ([CheckVersion("/x", -1)], 0, NoNode),
    ([SetData("/a", b"", 7)], 0, BadVersion),
    ([SetData("/a", b"", 0)], 0, BadVersion),
    ([Delete("/a/b", 7)], 0, BadVersion),
    ([CheckVersion("/a", 0)], 0, BadVersion),
    ([Delete("/a", -1)], 0, NotEmpty),
    ([Delete("/a", 7)], 0, BadVersion),
    ([Delete("/")], 0, UnknownRefusal),
    ([Create("/e/child")], 0, NoChildrenForEphemerals),
    ([Create("/e/child", sequential=True)], 0, NoChildrenForEphemerals),
    ([Create("/new"), SetData("/a", b"3"), CheckVersion("/a", 1), Create("/also")], 2, BadVersion),
    ([Create("/new"), Create("/new"), Delete("/x")], 1, NodeExists),
    ([Delete("/a/b"), Delete("/a"), Create("/a/b")], 2, NoNode),
    ([CheckVersion("/a", 1), CheckVersion("/e", 0), Delete("/e", 1)], 2, BadVersion),
]


@pytest.mark.parametrize(("operations", "index", "error"), REFUSED, ids=range(len(REFUSED)))
async def test_a_refused_multi_names_the_operation_and_changes_nothing(
    open_session: OpenSession,
    operations: list[ZnodeOperation],
    index: int,
    error: type[ZooKeeperError],
) -> None:
    zookeeper = await open_session()
    await zookeeper.multi(
        [Create("/a", b"0"), Create("/a/b"), SetData("/a", b"1"), Create("/e", ephemeral=True)]
    )
    names = await zookeeper.children("/")
    before = [await zookeeper.get(path) for path in ("/a", "/a/b", "/e")]
    with pytest.raises(MultiFailed) as refused:
        await zookeeper.multi(operations)
    assert refused.value.index == index
    assert refused.value.operation is operations[index]
    assert type(refused.value.error) is error
    assert refused.value.path == refused.value.error.path == operations[index].path
    assert [await zookeeper.get(path) for path in ("/a", "/a/b", "/e")] == before
    assert await zookeeper.children("/") == names


async def test_reads_of_absent_znodes_are_refused(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    for read in (zookeeper.get, zookeeper.children):
        with pytest.raises(NoNode, match="znode /absent or its parent does not exist"):
            await read("/absent")


async def test_sequential_names_count_the_children_ever_created(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    await zookeeper.multi([Create("/s"), Create("/s/other")])
    first = await zookeeper.multi([Create("/s/n_", sequential=True)])
    await zookeeper.multi([Delete("/s/other"), Delete("/s/n_0000000001")])
    second = await zookeeper.multi(
        [Create("/s/n_", sequential=True), Create("/s/", sequential=True)]
    )
    assert (first, second) == (["/s/n_0000000001"], ["/s/n_0000000002", "/s/0000000003"])
    stat = await zookeeper.exists("/s")
    assert stat is not None
    assert (stat.children_version, stat.children_count) == (6, 2)


async def test_a_refused_sequential_creation_uses_no_number(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    await zookeeper.multi([Create("/s")])
    with pytest.raises(MultiFailed):
        await zookeeper.multi([Create("/s/n", sequential=True), Delete("/absent")])
    assert await zookeeper.multi([Create("/s/n", sequential=True)]) == ["/s/n0000000000"]


async def test_ephemerals_end_with_their_session(open_session: OpenSession) -> None:
    owner, other = await open_session(), await open_session()
    events = Events()
    await owner.multi([Create("/e", b"x", ephemeral=True), Create("/p")])
    assert await other.exists("/e", watch=events) is not None
    assert (await other.get("/e")).ephemeral_owner == owner.session_id != other.session_id
    await owner.close()
    assert await events.next() == ("deleted", "/e")
    assert await other.exists("/e") is None
    assert await other.exists("/p") is not None


async def test_watches_of_data_fire_once(open_session: OpenSession) -> None:
    watcher, writer = await open_session(), await open_session()
    events = Events()
    await writer.multi([Create("/w"), Create("/end")])
    await watcher.get("/w", watch=events)
    await watcher.get("/end", watch=events)
    await writer.multi([SetData("/w", b"1"), SetData("/w", b"2")])
    assert await events.next() == ("data", "/w")
    await writer.multi([SetData("/end", b"")])
    assert await events.next() == ("data", "/end")
    assert events.queue.empty()


async def test_watches_see_creation_and_deletion(open_session: OpenSession) -> None:
    watcher, writer = await open_session(), await open_session()
    events = Events()
    assert await watcher.exists("/w", watch=events) is None
    await writer.multi([Create("/w")])
    assert await events.next() == ("created", "/w")
    await watcher.get("/w", watch=events)
    await writer.multi([Delete("/w")])
    assert await events.next() == ("deleted", "/w")


async def test_watches_of_children_see_names_only(open_session: OpenSession) -> None:
    watcher, writer = await open_session(), await open_session()
    events = Events()
    await writer.multi([Create("/w"), Create("/w/a")])
    await watcher.children("/w", watch=events)
    await writer.multi([SetData("/w", b""), SetData("/w/a", b""), Create("/w/a/deeper")])
    await writer.multi([Create("/w/b")])
    assert await events.next() == ("children", "/w")
    await watcher.children("/w", watch=events)
    await writer.multi([Delete("/w/b")])
    assert await events.next() == ("children", "/w")
    await writer.multi([Delete("/w/a/deeper"), Delete("/w/a")])
    await watcher.children("/w", watch=events)
    await writer.multi([Delete("/w")])
    assert await events.next() == ("deleted", "/w")
    assert events.queue.empty()


async def test_reads_of_absent_znodes_leave_no_watch(open_session: OpenSession) -> None:
    watcher, writer = await open_session(), await open_session()
    events = Events()
    for read in (watcher.get, watcher.children):
        with pytest.raises(NoNode):
            await read("/w", watch=events)
    await writer.multi([Create("/w"), Create("/end")])
    await watcher.get("/end", watch=events)
    await writer.multi([SetData("/end", b"")])
    assert await events.next() == ("data", "/end")


async def test_a_refused_multi_fires_no_watch(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    events = Events()
    await zookeeper.multi([Create("/w")])
    await zookeeper.get("/w", watch=events)
    with pytest.raises(MultiFailed):
        await zookeeper.multi([SetData("/w", b"x"), Delete("/absent")])
    await zookeeper.multi([Delete("/w")])
    assert await events.next() == ("deleted", "/w")


async def test_a_watch_is_called_before_the_answer_that_shows_the_change(
    open_session: OpenSession,
) -> None:
    zookeeper = await open_session()
    events = Events()
    await zookeeper.multi([Create("/w")])
    await zookeeper.get("/w", watch=events)
    await zookeeper.multi([SetData("/w", b"x")])
    assert events.queue.get_nowait() == WatchEvent(ZnodeChange.DATA, "/w")


async def test_operations_are_carried_out_in_the_order_of_the_calls(
    open_session: OpenSession,
) -> None:
    zookeeper = await open_session()
    await zookeeper.multi([Create("/a")])
    writes = [zookeeper.multi([SetData("/a", b"%d" % version, version)]) for version in range(200)]
    last, *_ = await asyncio.gather(*writes, zookeeper.get("/a"))
    assert isinstance(last, list)
    znode = await zookeeper.get("/a")
    assert (znode.data, znode.version) == (b"199", 200)


INVALID = [
    "",
    "a",
    "/a/",
    "//",
    "/a//b",
    "/.",
    "/a/../b",
    "/\0",
    "/\n",
    "/\x7f",
    "/\ue000",
    "/\U0001f600",
]


@pytest.mark.parametrize("path", INVALID, ids=range(len(INVALID)))
async def test_invalid_paths_are_refused_before_anything_is_sent(
    open_session: OpenSession, path: str
) -> None:
    zookeeper = await open_session()
    for reading in (zookeeper.get(path), zookeeper.exists(path), zookeeper.children(path)):
        with pytest.raises(InvalidPath):
            await reading
    for operation in (Create(path), SetData(path, b""), Delete(path), CheckVersion(path, 0)):
        with pytest.raises(InvalidPath):
            await zookeeper.multi([Create("/first"), operation])
    assert await zookeeper.exists("/first") is None


@pytest.mark.parametrize(
    "name", ["al%20ice", "a b", "<default>", "ünïcödé", "...", "a:b*c?", "~`!@#$^&()"]
)
async def test_odd_names_are_kept(open_session: OpenSession, name: str) -> None:
    zookeeper = await open_session()
    await zookeeper.multi([Create("/p"), Create(f"/p/{name}", name.encode())])
    assert await zookeeper.children("/p") == [name]
    assert (await zookeeper.get(f"/p/{name}")).data == name.encode()


async def test_a_closed_session_refuses(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    await zookeeper.close()
    await zookeeper.close()
    assert not zookeeper.is_connected
    with pytest.raises(ConnectionLost, match="closed"):
        await zookeeper.get("/")
