"""The opening of a session with ZooKeeper, for a migration (KIP-866)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kwire.errors import ConnectionFailed
from kwire.extras import pip_line
from kwire.zookeeper import ZooKeeper
from kwire.zookeeper.settings import ZooKeeperSettings

ZooKeeperOpener = Callable[[ZooKeeperSettings], Awaitable[ZooKeeper]]
"""Opens a session, which reconnects by itself. Raises ConnectionFailed if nothing is reached."""


async def open_zookeeper(settings: ZooKeeperSettings) -> ZooKeeper:
    """Open a session with kazoo. Raises ConnectionFailed."""
    try:
        from kwire.zookeeper.kazoo_client import KazooZooKeeper
    except ModuleNotFoundError:
        raise ConnectionFailed(f"ZooKeeper needs kazoo: {pip_line('zookeeper')}") from None
    return await KazooZooKeeper.connect(settings)
