"""An admin operation as a value: what is sent to whom, and what an answer means for each key.

The driver needs nothing else; a theme module has one of these for each row of the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kwire.admin.registry import OperationRow, Route
from kwire.codec.declaration import Request
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError, UnsupportedVersion
from kwire.net.negotiation import NodeApiVersions

if TYPE_CHECKING:
    from kwire.image import MetadataImage

K = TypeVar("K")
A = TypeVar("A")
R = TypeVar("R")

_NOT_ACTIVE = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_CONTROLLER})
_NOT_LEADER = frozenset(
    {
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.LISTENER_NOT_FOUND,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
    }
)
_NOT_COORDINATOR = frozenset({ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR})

MOVED = {
    Route.LEADER: _NOT_LEADER,
    Route.GROUP: _NOT_COORDINATOR,
    Route.TRANSACTION: _NOT_COORDINATOR,
}
"""Codes that mean: another node has this key, look it up again. By route; else _NOT_ACTIVE."""

AGAIN = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
        ErrorCode.NETWORK_EXCEPTION,
    }
)
"""Codes that mean: nothing was done yet, ask the same node again after a pause."""

UNKNOWN_NAMES = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID})
"""Codes for a name the node does not know; news travel, so partition leaders are asked again for
about a second. Elsewhere they are final."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedChanges(Generic[K, A]):
    """The arguments of an operation that changes something of each key: the values they shall have.

    validate_only: True to have the node check them and change nothing.
    """

    by_key: Mapping[K, A]
    validate_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCall(Generic[K, A]):
    """One request to be: the keys it is for, the arguments of the operation, and the node.

    peer: the address of the node, `host:port`.
    timeout_ms: for requests that tell the node how long to try; a little less than the client
    waits, so that the node's own reason comes before the client's.
    """

    keys: tuple[K, ...]
    arguments: A
    peer: str
    node: NodeApiVersions
    timeout_ms: int

    def offers(self, request: type[Request], since: int = 0) -> bool:
        """True if the node has this API in this version or a later one."""
        assert request.key is not None, f"{request.__name__} has no API key"
        offered = self.node.api_versions.get(request.key)
        return offered is not None and offered.max_version >= since


RequestPart = tuple[tuple[K, ...], Request]
"""Some of a call's keys, and the request for them: for APIs that take one key at a time."""

Observe = Callable[["MetadataImage", tuple[K, ...], A], Iterable[tuple[K, R | KwireError]]]
"""Yields each key with its result or its error, from the metadata log instead of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[K, A, R]):
    """The way to ask for the keys of one operation, and to read the answers.

    row: its facts in the registry.
    build: returns the request for a call's keys, or several Parts, which are sent at once.
    parse: yields each key with its result or its error, from the answer to such a request; a
    BrokerError that it raises is that of all keys of the request.
    follow: returns the next request after an answer that was not complete, else None.
    target: the thing that is looked up for a key: a node id, a TopicPartition, a group or
    transactional id; None for any node. By default the key itself.
    observe: reads the keys in the metadata log, for what controllers do not answer: an operation
    has it exactly if its row says Reach.OBSERVED.
    moved, again: codes as MOVED and AGAIN say, where an operation's differ.
    last_versions: the highest version to ask in, for requests whose later versions say less:
    OffsetFetch names topics by id alone from 10 on.
    """

    row: OperationRow
    build: Callable[[OperationCall[K, A]], Request | Iterable[RequestPart[K]]]
    parse: Callable[[Any, OperationCall[K, A]], Iterable[tuple[K, R | KwireError]]]
    follow: Callable[[Any, OperationCall[K, A]], Request | None] | None = None
    target: Callable[[K, A], object] = lambda key, arguments: key
    observe: Observe[K, A, R] | None = None
    moved: frozenset[int] | None = None
    again: frozenset[int] = field(default=AGAIN)
    last_versions: Mapping[type[Request], int] = field(default_factory=dict)

    def is_moved(self, code: int) -> bool:
        """True if another node has to be asked after this code."""
        codes = MOVED.get(self.row.route, _NOT_ACTIVE) if self.moved is None else self.moved
        return code in codes

    def version_for(self, request: type[Request], node: NodeApiVersions, peer: str) -> int:
        """Return the version to ask a node in. Raises UnsupportedVersion if there is none."""
        highest = node.version_for(request, peer)
        version = min(highest, self.last_versions.get(request, highest))
        if request.key is None or version not in node.api_versions[request.key]:
            raise UnsupportedVersion(
                f"{peer} has no version of {request.__name__} as low as {version}, which"
                f" `{self.row.name}` needs"
            )
        return version

    def parts(self, call: OperationCall[K, A]) -> list[RequestPart[K]]:
        """Return the requests for a call, each with its keys."""
        built = self.build(call)
        return [(call.keys, built)] if isinstance(built, Request) else list(built)
