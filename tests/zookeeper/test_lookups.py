"""Znodes that are there, and that are not."""

from kwire.zookeeper import Create
from kwire.zookeeper.lookups import children_or_none, get_or_none
from migrating.memory_zookeeper import MemoryZooKeeper


async def test_a_znode_that_is_not_there_is_none_and_one_without_children_is_empty() -> None:
    session = MemoryZooKeeper().open_session()
    await session.multi([Create("/a", b"one")])
    found = await get_or_none(session, "/a")
    assert found is not None
    assert found.data == b"one"
    assert await get_or_none(session, "/b") is None
    assert await children_or_none(session, "/a") == []
    assert await children_or_none(session, "/b") is None
