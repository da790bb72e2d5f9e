"""The errors of admin operations beyond kwire.errors: answers that a caller may want to catch.

BrokerError                     any other code that a node answered with
├── MismatchedEndpointType      a broker was given as a controller, or the reverse (KIP-919)
├── InconsistentClusterId       the cluster is another one than the caller named
├── DuplicateVoter              the node is a voter already
└── VoterNotFound               no voter has this id and directory id
ConnectionFailed
└── NoReachableLeader           controllers answer, but none of them leads
"""

from __future__ import annotations

from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, ConnectionFailed


class MismatchedEndpointType(BrokerError):
    """A broker was given where a controller is needed, or the reverse."""


class InconsistentClusterId(BrokerError):
    """The nodes that were asked belong to another cluster."""


class DuplicateVoter(BrokerError):
    """A node with this id is in the voter set, whatever its directory id."""


class VoterNotFound(BrokerError):
    """No voter has both this id and this directory id."""


class NoReachableLeader(ConnectionFailed):
    """Controllers answer, but none of them leads, and the one they name cannot be reached."""


_CLASSES: dict[int, type[BrokerError]] = {
    ErrorCode.MISMATCHED_ENDPOINT_TYPE: MismatchedEndpointType,
    ErrorCode.INCONSISTENT_CLUSTER_ID: InconsistentClusterId,
    ErrorCode.DUPLICATE_VOTER: DuplicateVoter,
    ErrorCode.VOTER_NOT_FOUND: VoterNotFound,
}


def raise_for_code(code: int, message: str | None = None) -> None:
    """Raise the error of a code, with the node's message; return for 0."""
    if code:
        raise _CLASSES.get(code, BrokerError)(code, message)
