"""The operations of a multi, and the state of a znode (org.apache.zookeeper.Op, data.Stat)."""

from __future__ import annotations

from dataclasses import dataclass, field

ANY_VERSION = -1
"""The version that fits every znode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZnodeStat:
    """ZooKeeper's notes on a znode.

    version: how often its data was set. children_version: how often children were created or
    deleted. ephemeral_owner: the id of the session that it ends with; 0 if it persists.
    created_ms, modified_ms: ZooKeeper's clock.
    """

    version: int
    children_version: int
    ephemeral_owner: int
    children_count: int
    created_zxid: int
    modified_zxid: int
    created_ms: int
    modified_ms: int

    @property
    def is_ephemeral(self) -> bool:
        """True if the znode ends with a session."""
        return self.ephemeral_owner != 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Znode(ZnodeStat):
    """A znode with its data, which may be a secret and is not printed.

    is_null: True if no data was ever set; then data is empty, too.
    """

    data: bytes = field(repr=False)
    is_null: bool = False


@dataclass(frozen=True, slots=True)
class Create:
    """Create a znode; its parent must exist.

    ephemeral: it ends with the session. sequential: ZooKeeper appends ten digits, the number of
    children that its parent ever got.
    """

    path: str
    data: bytes = field(default=b"", repr=False)
    ephemeral: bool = False
    sequential: bool = False


@dataclass(frozen=True, slots=True)
class SetData:
    """Set a znode's data, if it has the version."""

    path: str
    data: bytes = field(repr=False)
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a znode without children, if it has the version."""

    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class CheckVersion:
    """Change nothing, but refuse the whole multi unless the znode has the version."""

    path: str
    version: int


ZnodeOperation = Create | SetData | Delete | CheckVersion

ZnodeResult = str | ZnodeStat | None
"""Create: the path, with the digits of a sequential one. SetData: the new state. Others: None."""
