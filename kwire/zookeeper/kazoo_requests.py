"""Operations and answers as kazoo has them (kazoo.protocol.serialization)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kazoo import exceptions
from kazoo.protocol import serialization
from kazoo.security import CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

from kwire.errors import KwireError
from kwire.zookeeper.errors import (
    BadVersion,
    ConnectionLost,
    MultiFailed,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotAuthorized,
    NotEmpty,
    SessionExpired,
    UnknownRefusal,
    ZooKeeperAuthenticationFailed,
    ZooKeeperError,
)
from kwire.zookeeper.operations import (
    CheckVersion,
    Create,
    Delete,
    SetData,
    Znode,
    ZnodeOperation,
    ZnodeResult,
    ZnodeStat,
)
from kwire.zookeeper.znodes.top_level import is_open, is_sensitive

_EPHEMERAL = 1
_SEQUENTIAL = 2

_REFUSALS: dict[type[Exception], Callable[[str], ZooKeeperError]] = {
    exceptions.NoNodeError: NoNode,
    exceptions.NodeExistsError: NodeExists,
    exceptions.BadVersionError: BadVersion,
    exceptions.NotEmptyError: NotEmpty,
    exceptions.NoChildrenForEphemeralsError: NoChildrenForEphemerals,
    exceptions.NoAuthError: NotAuthorized,
}

_AUTHENTICATION = (exceptions.AuthFailedError, exceptions.SessionClosedRequireSaslError)


def request_of(operation: ZnodeOperation, chroot: str, *, set_acl: bool) -> Any:
    """Return the request of an operation, below the chroot."""
    path = chroot if chroot and operation.path == "/" else chroot + operation.path
    match operation:
        case Create():
            flags = _EPHEMERAL * operation.ephemeral + _SEQUENTIAL * operation.sequential
            acl = _acl(operation.path, set_acl)
            return serialization.Create(path, operation.data, acl, flags)
        case SetData():
            return serialization.SetData(path, operation.data, operation.version)
        case Delete():
            return serialization.Delete(path, operation.version)
        case CheckVersion():
            return serialization.CheckVersion(path, operation.version)


def _acl(path: str, set_acl: bool) -> list[Any]:
    """Return the ACL of a new znode (ZkData.defaultAcls)."""
    if not set_acl or is_open(path):
        return list(OPEN_ACL_UNSAFE)
    return [*CREATOR_ALL_ACL, *([] if is_sensitive(path) else READ_ACL_UNSAFE)]


def connection_lost(servers: str, *, reads: bool) -> ConnectionLost:
    """Return the error of a request that was sent and not answered."""
    rest = " before it answered" if reads else ": the operation may have been carried out"
    return ConnectionLost(f"the connection to ZooKeeper at {servers} was lost{rest}")


def translated(error: Exception, path: str, servers: str, *, reads: bool) -> KwireError:
    """Return kwire's error for one of kazoo's. reads: the request changes nothing."""
    if isinstance(error, exceptions.SessionExpiredError):
        return SessionExpired("the session with ZooKeeper expired: nothing was carried out")
    if isinstance(error, _AUTHENTICATION):
        return ZooKeeperAuthenticationFailed(
            f"ZooKeeper at {servers} does not accept the credentials"
        )
    lost = (exceptions.ConnectionLoss, exceptions.OperationTimeoutError)
    if isinstance(error, lost) or not isinstance(error, exceptions.ZookeeperError):
        return connection_lost(servers, reads=reads)
    return _refusal(error, path)


def _refusal(error: Exception, path: str) -> ZooKeeperError:
    if refusal := _REFUSALS.get(type(error)):
        return refusal(path)
    code = getattr(error, "code", 0)
    return UnknownRefusal(path, code, type(error).__name__.removesuffix("Error"))


def first_failure(
    operations: Sequence[ZnodeOperation], results: Sequence[Any]
) -> MultiFailed | None:
    """Return the refusal of a multi; None if it took place.

    The operations before the refused one are answered as rolled back.
    """
    for index, (operation, result) in enumerate(zip(operations, results, strict=True)):
        if isinstance(result, Exception) and not isinstance(result, exceptions.RolledBackError):
            return MultiFailed(index, operation, _refusal(result, operation.path))
    return None


def multi_results(
    operations: Sequence[ZnodeOperation], results: Sequence[Any], unchroot: Callable[[str], str]
) -> list[ZnodeResult]:
    """Return the results of a multi that took place."""
    found: list[ZnodeResult] = []
    for operation, result in zip(operations, results, strict=True):
        match operation:
            case Create():
                found.append(unchroot(result))
            case SetData():
                found.append(stat_of(result))
            case _:
                found.append(None)
    return found


def stat_of(stat: Any) -> ZnodeStat:
    """Return the state of a znode."""
    return ZnodeStat(**_stat(stat))


def znode_of(answer: tuple[bytes | None, Any]) -> Znode:
    """Return a znode; one without data has empty data."""
    data, stat = answer
    return Znode(data=data or b"", is_null=data is None, **_stat(stat))


def _stat(stat: Any) -> dict[str, int]:
    return {
        "version": stat.version,
        "children_version": stat.cversion,
        "ephemeral_owner": stat.ephemeralOwner,
        "children_count": stat.numChildren,
        "created_zxid": stat.czxid,
        "modified_zxid": stat.mzxid,
        "created_ms": stat.ctime,
        "modified_ms": stat.mtime,
    }
