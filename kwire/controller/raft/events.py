"""The events of a replica: the input of `Raft.step`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from kwire.batches import Record
from kwire.codec.declaration import Request, Response
from kwire.logdir.names import OffsetAndEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The first event of a replica's life. is_replaying: as in Replaying."""

    is_replaying: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaying:
    """The state machine begins to replay records that it has not applied, or has caught up.

    Until it has, this replica does not stand for election: it could not answer as a leader. It
    votes, follows and fetches meanwhile.
    """

    is_replaying: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Time has passed: due when `Raft.deadline` is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestReceived:
    """A peer or an admin asks. token: comes back in the Reply. listener: that took the request."""

    token: Hashable
    request: Request
    version: int
    listener: str = "CONTROLLER"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseReceived:
    """The answer to the Send of this correlation."""

    correlation: int
    response: Response


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFailed:
    """No answer will come to a Send. error: BROKER_NOT_AVAILABLE if the peer is not reached,
    UNSUPPORTED_VERSION if it has no version that can carry the request."""

    correlation: int
    error: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """The state machine, which leads `epoch`, wants one batch of records in the log.

    Records without a timestamp get that of the step. batch: in place of records, what
    `build_batch` made of them; it gets its offset and epoch here, which takes no time.
    """

    token: Hashable
    epoch: int
    records: tuple[Record, ...] = ()
    batch: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFlushed:
    """A FlushLog has been carried out: one event each, with its offset, in their order."""

    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotInstalled:
    """An InstallSnapshot has been carried out."""

    id: OffsetAndEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotTaken:
    """The state machine has completed a snapshot of its own."""

    id: OffsetAndEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeKRaftVersion:
    """UpdateFeatures asks for this kraft.version, or only checks that it is possible."""

    token: Hashable
    epoch: int
    kraft_version: int
    validate_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resign:
    """The state machine, which leads `epoch`, cannot go on."""

    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shutdown:
    """The node wants to stop; a leader hands over first. ShutdownComplete answers."""


RaftEvent = (
    Start
    | Replaying
    | Tick
    | RequestReceived
    | ResponseReceived
    | RequestFailed
    | Append
    | LogFlushed
    | SnapshotInstalled
    | SnapshotTaken
    | UpgradeKRaftVersion
    | Resign
    | Shutdown
)
