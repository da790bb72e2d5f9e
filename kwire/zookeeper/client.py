"""A session with ZooKeeper, as kwire uses it (org.apache.zookeeper.ZooKeeper).

Behind this protocol are KazooZooKeeper, and MemoryZooKeeper's sessions for tests.

Operations are carried out in the order in which a session's methods are called, and many may be
under way. Reads of one session see its own writes. A session survives the loss of a connection:
- While there is no connection, each operation raises ConnectionLost at once.
- An operation that was under way raises ConnectionLost: it may have been carried out.
- After CONNECTED of the same session id, ephemeral znodes still exist; watches do not.
- After EXPIRED, ephemeral znodes are gone. The client opens a new session by itself, CONNECTED
  tells of it; until then operations raise SessionExpired.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from kwire.zookeeper.operations import Znode, ZnodeOperation, ZnodeResult, ZnodeStat


class SessionEvent(Enum):
    """A change of a session's state."""

    CONNECTED = "connected"
    SUSPENDED = "suspended"
    EXPIRED = "expired"


class ZnodeChange(Enum):
    """The reason for which a watch fired. LOST: with the connection; look again once connected."""

    CREATED = "created"
    DELETED = "deleted"
    DATA = "data"
    CHILDREN = "children"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """A watch fired; it will not fire again."""

    change: ZnodeChange
    path: str


Watch = Callable[[WatchEvent], object]
"""Called once, on the event loop of the session's user; it must not block."""

SessionListener = Callable[[SessionEvent], object]
"""Called on the event loop for each event of the session; it must not block."""


class ZooKeeper(Protocol):
    """One client of ZooKeeper, with one session at a time.

    Every method raises ConnectionLost, SessionExpired, NotAuthorized, and InvalidPath before
    anything is sent.
    """

    @property
    def session_id(self) -> int:
        """The session's id, as in the ephemeral_owner of its znodes; 0 while there is none."""

    @property
    def is_connected(self) -> bool:
        """True if operations can be sent now."""

    async def get(self, path: str, *, watch: Watch | None = None) -> Znode:
        """Return a znode. The watch fires when its data is set or it is deleted.

        Raises NoNode; then no watch is left.
        """

    async def exists(self, path: str, *, watch: Watch | None = None) -> ZnodeStat | None:
        """Return a znode's state, None if there is no such znode.

        The watch fires when it is created, its data is set, or it is deleted.
        """

    async def children(self, path: str, *, watch: Watch | None = None) -> list[str]:
        """Return the names of a znode's children, sorted.

        The watch fires when a child is created or deleted, or the znode itself is deleted.
        Raises NoNode; then no watch is left.
        """

    async def multi(self, operations: Sequence[ZnodeOperation]) -> list[ZnodeResult]:
        """Carry out all operations, or none; return a result for each.

        Raises MultiFailed with the first refused operation. A multi of no operation does nothing.
        """

    def add_listener(self, listener: SessionListener) -> None:
        """Call the listener for each event of the session from now on."""

    async def close(self) -> None:
        """End the session, with its ephemeral znodes. Watches and listeners are not called."""
