"""The errors of admin operations beyond kwire.errors: answers that a caller may want to catch.

BrokerError                     any other code that a node answered with
├── MismatchedEndpointType      a broker was given as a controller, or the reverse (KIP-919)
├── InconsistentClusterId       the cluster is another one than the caller named
├── DuplicateVoter              the node is a voter already
├── MetadataNotRead             the controller has found no leader since it started
└── VoterNotFound               no voter has this id and directory id
ConnectionFailed
└── NoReachableLeader           controllers answer, but none of them leads
LocalError
├── ReadOnly                    the client may not change anything; nothing was sent
├── NodeNotFound                the cluster has no node of this id
├── ClusterIdNotTold            the controllers do not tell the id of their cluster
├── ReplicaNotFound             the broker has no replica of this partition
└── WrongGroupType              the group is not of the type that was described
KwireError
├── OutcomeUnknown              a change was sent and not answered: it may have been carried out
└── ReassignmentChanged         a partition ended on other replicas than it was moved to
WireError
└── MissingFromAnswer           the answer says nothing about a key that was asked for
"""

from __future__ import annotations

from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, ConnectionFailed, KwireError, LocalError, WireError


class MismatchedEndpointType(BrokerError):
    """A broker was given where a controller is needed, or the reverse."""


class InconsistentClusterId(BrokerError):
    """The nodes that were asked belong to another cluster."""


class DuplicateVoter(BrokerError):
    """A node with this id is in the voter set, whatever its directory id."""


class VoterNotFound(BrokerError):
    """No voter has both this id and this directory id."""


class MetadataNotRead(BrokerError):
    """A controller has read no metadata since it started, as it has found no leader.

    It stands at the lowest metadata.version, and refuses what that does not have with
    UNSUPPORTED_VERSION, as if it were too old. `code` is NOT_CONTROLLER, which is the truth.
    """

    def __init__(self, peer: str) -> None:
        super().__init__(ErrorCode.NOT_CONTROLLER)
        self.peer = peer
        self.args = (f"{peer} has read no metadata since it started, as it has found no leader",)

    def __str__(self) -> str:
        return str(self.args[0])


class NoReachableLeader(ConnectionFailed):
    """Controllers answer, but none of them leads, and the one they name cannot be reached."""


class ReadOnly(LocalError):
    """The client was opened read-only, and the operation changes the cluster; nothing was sent."""


class NodeNotFound(LocalError):
    """The cluster has no node of this id."""


class ClusterIdNotTold(LocalError):
    """Controllers do not tell the id of their cluster: the reason is that of DescribeCluster."""

    def __init__(self) -> None:
        super().__init__(
            "the cluster id is unknown: controllers tell it from Kafka 3.7 on, to those with the"
            " right ALTER on the cluster; give `bootstrap_servers`, or log in as one of them"
        )


class ReplicaNotFound(LocalError):
    """The broker has no replica of this partition."""


class WrongGroupType(LocalError):
    """The group exists, but is not of the type that it was asked for as."""


class ReassignmentRefused(LocalError):
    """The cluster as it is cannot move partitions so, or another command moves them already."""


class OutcomeUnknown(KwireError):
    """A change was sent and not answered: it may have been carried out. It was not repeated."""


class ReassignmentChanged(KwireError):
    """A partition ended on other replicas than it was moved to: somebody else took over."""


class MissingFromAnswer(WireError):
    """The answer says nothing about a key that was asked for."""


_CLASSES: dict[int, type[BrokerError]] = {
    ErrorCode.MISMATCHED_ENDPOINT_TYPE: MismatchedEndpointType,
    ErrorCode.INCONSISTENT_CLUSTER_ID: InconsistentClusterId,
    ErrorCode.DUPLICATE_VOTER: DuplicateVoter,
    ErrorCode.VOTER_NOT_FOUND: VoterNotFound,
}


NOTHING_DONE = (
    "The active controller appears to be node",
    "This controller is not the active one.",
)
"""The texts of controllers, Kafka's and kwire's, that had not begun a request that they refuse."""


def may_be_done(error: BrokerError) -> bool:
    """Return True for NOT_CONTROLLER of a controller that names no other.

    One that stops leading answers so for what it has written, too; that may still be committed.
    """
    is_refused = (error.message or "").startswith(NOTHING_DONE)
    return error.code == ErrorCode.NOT_CONTROLLER and not is_refused


def raise_for_code(code: int, message: str | None = None) -> None:
    """Raise the error of a code, with the node's message; return for 0."""
    if error := refusal(code, message):
        raise error


def refusal(code: int, message: str | None = None) -> BrokerError | None:
    """Return the error of a code, with the node's message; None for 0."""
    return _CLASSES.get(code, BrokerError)(code, message) if code else None
