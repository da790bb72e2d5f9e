"""The faults of the ZooKeeper in memory, which a real one has too, at times of its own choice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from kwire.zookeeper import (
    ConnectionLost,
    Create,
    MultiFailed,
    SessionEvent,
    SessionExpired,
    SetData,
    WatchEvent,
    ZnodeChange,
    ZnodeOperation,
)
from migrating.memory_zookeeper import Loss, MemorySession, MemoryZooKeeper


def connected_again(session: MemorySession) -> asyncio.Event:
    """Return an event that is set when the session is connected again."""
    found = asyncio.Event()

    def listen(event: SessionEvent) -> None:
        if event is SessionEvent.CONNECTED:
            found.set()

    session.add_listener(listen)
    return found


@pytest.mark.parametrize("loss", Loss)
async def test_a_multi_whose_connection_is_lost_took_place_or_not(loss: Loss) -> None:
    def lose(_: MemorySession, operations: Sequence[ZnodeOperation]) -> Loss | None:
        return loss if operations[0].path == "/b" else None

    server = MemoryZooKeeper(lose=lose)
    session = server.open_session()
    again = connected_again(session)
    await session.multi([Create("/a")])
    with pytest.raises(ConnectionLost, match="may have been carried out"):
        await session.multi([Create("/b")])
    await again.wait()
    assert (await session.exists("/b") is not None) == (loss is Loss.AFTER)
    assert session.session_id == session.live_id == 1


async def test_a_refused_multi_whose_connection_is_lost_tells_nothing() -> None:
    server = MemoryZooKeeper(lose=lambda *_: Loss.AFTER)
    session = server.open_session()
    with pytest.raises(ConnectionLost):
        await session.multi([SetData("/absent", b"")])


async def test_requests_on_their_way_are_lost_with_the_connection() -> None:
    server = MemoryZooKeeper()
    session = server.open_session()
    under_way = asyncio.ensure_future(session.multi([Create("/a")]))
    await asyncio.sleep(0)
    server.disconnect(session)
    with pytest.raises(ConnectionLost):
        await under_way
    assert "/a" not in server.tree


async def test_without_a_connection_operations_fail_at_once() -> None:
    server = MemoryZooKeeper()
    session = server.open_session()
    server.disconnect(session)
    await asyncio.sleep(0)
    assert not session.is_connected
    with pytest.raises(ConnectionLost, match="no connection"):
        await session.get("/")
    server.reconnect(session)
    await asyncio.sleep(0)
    assert (await session.get("/")).data == b""


async def test_watches_are_lost_with_the_connection_and_ephemerals_are_not() -> None:
    server = MemoryZooKeeper()
    session = server.open_session()
    events: list[WatchEvent] = []
    await session.multi([Create("/mine", ephemeral=True)])
    await session.get("/mine", watch=events.append)
    server.disconnect(session)
    server.reconnect(session)
    await asyncio.sleep(0)
    assert events == [WatchEvent(ZnodeChange.LOST, "/mine")]
    assert (await session.get("/mine")).ephemeral_owner == session.session_id


async def test_an_expired_session_loses_its_ephemerals_and_others_see_it() -> None:
    server = MemoryZooKeeper()
    owner, other = server.open_session(), server.open_session()
    events: list[WatchEvent] = []
    states: list[SessionEvent] = []
    owner.add_listener(states.append)
    await owner.multi([Create("/controller", ephemeral=True)])
    await other.exists("/controller", watch=events.append)
    server.expire(owner)
    await asyncio.sleep(0)
    assert events == [WatchEvent(ZnodeChange.DELETED, "/controller")]
    with pytest.raises(SessionExpired, match="nothing was carried out"):
        await owner.get("/")
    server.reconnect(owner)
    await asyncio.sleep(0)
    assert states == [SessionEvent.SUSPENDED, SessionEvent.EXPIRED, SessionEvent.CONNECTED]
    assert owner.session_id == 3
    await owner.multi([Create("/controller", ephemeral=True)])


async def test_a_session_that_stood_still_learns_of_its_end_from_its_next_request() -> None:
    server = MemoryZooKeeper()
    session = server.open_session()
    await session.multi([Create("/controller", ephemeral=True)])
    server.expire_unnoticed(session)
    assert "/controller" not in server.tree
    assert session.is_connected
    with pytest.raises(ConnectionLost):
        await session.multi([Create("/late")])
    assert "/late" not in server.tree
    with pytest.raises(SessionExpired):
        await session.get("/")


async def test_a_refused_multi_leaves_the_tree_as_it_was() -> None:
    server = MemoryZooKeeper()
    session = server.open_session()
    tree = server.tree
    with pytest.raises(MultiFailed):
        await session.multi([Create("/a"), SetData("/", b"x"), SetData("/absent", b"")])
    assert server.tree is tree


async def test_the_clock_is_the_tests() -> None:
    server = MemoryZooKeeper(now_ms=iter((7, 9)).__next__)
    session = server.open_session()
    await session.multi([Create("/a")])
    await session.multi([SetData("/a", b"")])
    znode = await session.get("/a")
    assert (znode.created_ms, znode.modified_ms) == (7, 9)


async def test_sessions_after_a_close_refuse() -> None:
    server = MemoryZooKeeper()
    session, other = server.open_session(), server.open_session()
    await session.multi([Create("/mine", ephemeral=True)])
    await session.close()
    await session.close()
    assert await other.exists("/mine") is None
    with pytest.raises(ConnectionLost, match="closed"):
        await session.get("/")
