"""The session with ZooKeeper of a node's migration, opened when it is first needed."""

from __future__ import annotations

from kwire.migration.node.zookeeper_opening import ZooKeeperOpener
from kwire.zookeeper import ZooKeeper
from kwire.zookeeper.settings import ZooKeeperSettings


class ZooKeeperSession:
    """Opens one session, which reconnects by itself; a failure to open it is tried again.

    open: returns a session for the settings.
    """

    def __init__(self, settings: ZooKeeperSettings, open: ZooKeeperOpener) -> None:
        self._settings = settings
        self._open = open
        self._zookeeper: ZooKeeper | None = None

    async def zookeeper(self) -> ZooKeeper:
        """Return the session; open it first, if there is none. Raises as OpenZooKeeper does."""
        if self._zookeeper is None:
            self._zookeeper = await self._open(self._settings)
        return self._zookeeper

    async def close(self) -> None:
        """End the session, if there is one."""
        zookeeper, self._zookeeper = self._zookeeper, None
        if zookeeper is not None:
            await zookeeper.close()
