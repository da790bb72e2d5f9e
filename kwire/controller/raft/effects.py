"""The effects of a step: the output of `Raft.step`, to be carried out in its order.

PersistElection stands before every Reply and Send that tells of its epoch or vote, and must be on
the disk before they go out. Appends and truncations must show in the log before the next step.
A QuorumEvent is for the log of the node; nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from kwire.codec.declaration import Request, Response
from kwire.controller.raft.endpoints import PeerNode
from kwire.controller.raft.quorum_events import QuorumEvent
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages.data.quorum_state_data import QuorumStateData


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistElection:
    """Replace quorum-state, and flush it."""

    data: QuorumStateData
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendLog:
    """Append batches that already have their offsets and epochs. end_offset: after them."""

    data: bytes
    end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateLog:
    """Remove everything from this offset on."""

    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushLog:
    """Make the log durable up to `offset`; a LogFlushed tells when."""

    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSnapshot:
    """A part of a snapshot that the leader sends; the one at position 0 begins it anew."""

    id: OffsetAndEpoch
    position: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallSnapshot:
    """The snapshot is whole: flush it, then let the log begin and end where it ends."""

    id: OffsetAndEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """A request to a peer. A ResponseReceived or RequestFailed of `correlation` ends it."""

    correlation: int
    destination: PeerNode
    request: Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to a RequestReceived."""

    token: Hashable
    response: Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """An Append or UpgradeKRaftVersion is in the log; it is decided when a Commit reaches
    `end_offset`. base_offset equals it if there was nothing to write."""

    token: Hashable
    base_offset: int
    end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """An Append or UpgradeKRaftVersion was refused. error: one of Kafka's codes."""

    token: Hashable
    error: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """The high watermark: all records below it are decided for ever and may be applied."""

    high_watermark: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderChanged:
    """Another epoch, or another leader of it; None while no leader is known."""

    epoch: int
    leader_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BecomeLeader:
    """This replica leads and its first record is committed: its state machine may write.

    It must have applied everything below `epoch_start_offset` first.
    """

    epoch: int
    epoch_start_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResignLeader:
    """This replica leads no more: records that are not committed may be lost."""

    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShutdownComplete:
    """The quorum does not need this replica any more: the node may stop."""


RaftEffect = (
    PersistElection
    | AppendLog
    | TruncateLog
    | FlushLog
    | WriteSnapshot
    | InstallSnapshot
    | Send
    | Reply
    | Appended
    | Rejected
    | Commit
    | LeaderChanged
    | BecomeLeader
    | ResignLeader
    | ShutdownComplete
    | QuorumEvent
)
