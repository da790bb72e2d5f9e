"""The ZooKeepers that the contract holds for: the one in memory, and kazoo with a real one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
import pytest_asyncio

from kwire.zookeeper import ZooKeeper
from kwire.zookeeper.kazoo_client import KazooZooKeeper
from kwire.zookeeper.settings import ZooKeeperSettings
from migrating.memory_zookeeper import MemoryZooKeeper
from real_kafka.zookeeper import ZooKeeperServer
from tests.support.zookeeper.trees import delete_below

OpenSession = Callable[[], Awaitable[ZooKeeper]]

REAL = (pytest.mark.java, pytest.mark.cluster, pytest.mark.xdist_group("zookeeper"))
"""Marks of tests with the real ZooKeeper: one worker of xdist starts it, and runs them all."""

SESSION_SECONDS = 5.0


@pytest.fixture(scope="session")
def server() -> Iterator[ZooKeeperServer]:
    """One real ZooKeeper for all tests of this folder."""
    with ZooKeeperServer() as server:
        yield server


@pytest.fixture
def settings(server: ZooKeeperServer) -> ZooKeeperSettings:
    """Settings of a client of the real ZooKeeper."""
    address = ZooKeeperSettings.parse(server.connect).addresses
    return ZooKeeperSettings(addresses=address, session_seconds=SESSION_SECONDS)


@pytest_asyncio.fixture(params=["memory", pytest.param("real", marks=REAL)])
async def open_session(request: pytest.FixtureRequest) -> AsyncIterator[OpenSession]:
    """Opens sessions with one ZooKeeper; all are closed at the end, and the tree is empty again."""
    memory = MemoryZooKeeper()
    settings: ZooKeeperSettings | None = None
    if request.param == "real":
        settings = request.getfixturevalue("settings")
    opened: list[ZooKeeper] = []

    async def open_one() -> ZooKeeper:
        if settings is None:
            opened.append(memory.open_session())
        else:
            opened.append(await KazooZooKeeper.connect(settings))
        return opened[-1]

    yield open_one
    for session in opened:
        await session.close()
    if settings is not None:
        cleaner = await KazooZooKeeper.connect(settings)
        await delete_below(cleaner, "/")
        await cleaner.close()
