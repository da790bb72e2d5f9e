"""Errors of ZooKeeper: a refused operation, a session that ended, a znode with wrong content.

ZooKeeperError             ZooKeeper refused an operation: its path
├── NoNode, NodeExists, BadVersion, NotEmpty, NoChildrenForEphemerals, NotAuthorized
├── UnknownRefusal         … with a code that has no class here
└── MultiFailed            … as one of several: its index, and the error of that operation
ConnectionLost             below AnswerLost: the operations may have been carried out
SessionExpired             below ConnectionFailed: ephemeral znodes of the session are gone
ZooKeeperUnreachable       below ConnectionFailed: no session could be opened
└── ChrootMissing          … with this chroot
ZooKeeperAuthenticationFailed   below ConnectionFailed
InvalidZnode               below WireError: its path
InvalidPath                below InvalidValue
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.errors import AnswerLost, ConnectionFailed, InvalidValue, KwireError, WireError

if TYPE_CHECKING:
    from kwire.zookeeper.operations import ZnodeOperation


class ZooKeeperError(KwireError):
    """ZooKeeper refused an operation; `path` is the znode that it was for."""

    def __init__(self, path: str, sentence: str) -> None:
        self.path = path
        super().__init__(sentence)


class NoNode(ZooKeeperError):
    """The znode does not exist, or for a Create its parent (NONODE, -101)."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"znode {path} or its parent does not exist")


class NodeExists(ZooKeeperError):
    """A znode that shall be created exists (NODEEXISTS, -110)."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"znode {path} exists already")


class BadVersion(ZooKeeperError):
    """The znode has another version than expected: somebody wrote it since (BADVERSION, -103)."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"znode {path} has another version: it was changed meanwhile")


class NotEmpty(ZooKeeperError):
    """A znode that shall be deleted has children (NOTEMPTY, -111)."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"znode {path} has children: delete them first")


class NoChildrenForEphemerals(ZooKeeperError):
    """The parent of a znode that shall be created is ephemeral (NOCHILDRENFOREPHEMERALS, -108)."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"znode {path} cannot be created: its parent is ephemeral")


class NotAuthorized(ZooKeeperError):
    """The znode's ACL does not permit the operation (NOAUTH, -102)."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path, f"the ACL of znode {path} refuses this session: give the credentials of its owner"
        )


class UnknownRefusal(ZooKeeperError):
    """ZooKeeper refused an operation with a code that is rare; `code` is ZooKeeper's."""

    def __init__(self, path: str, code: int, name: str) -> None:
        self.code = code
        super().__init__(path, f"ZooKeeper refused the operation on {path}: {name} ({code})")


class MultiFailed(ZooKeeperError):
    """None of several operations took place, because one of them was refused.

    index: of the first refused operation. operation: that one. error: its refusal.
    """

    def __init__(self, index: int, operation: ZnodeOperation, error: ZooKeeperError) -> None:
        self.index = index
        self.operation = operation
        self.error = error
        super().__init__(
            operation.path,
            f"operation {index} of a multi was refused, so none took place: {error}",
        )


class ConnectionLost(AnswerLost):
    """The connection ended before the answer: an operation may have been carried out.

    The session lives on at the server until its timeout.
    """


class SessionExpired(ConnectionFailed):
    """ZooKeeper ended the session and deleted its ephemeral znodes; nothing was carried out."""


class ZooKeeperUnreachable(ConnectionFailed):
    """No session could be opened: refused, unresolvable, out of time, no common TLS."""


class ChrootMissing(ZooKeeperUnreachable):
    """The znode of the chroot does not exist: it is another ZooKeeper, or another path."""


class ZooKeeperAuthenticationFailed(ConnectionFailed):
    """ZooKeeper did not accept the credentials; it closes such a session."""


class InvalidZnode(WireError):
    """A znode's content is not what Kafka 3.9 writes or reads; `path` names it."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"znode {path}: {reason}")


class InvalidPath(InvalidValue):
    """ZooKeeper has no znode of such a path (org.apache.zookeeper.common.PathUtils)."""
