"""The events of a replica for its operator: one kind of effect, which changes nothing.

Java logs the same in KafkaRaftClient, QuorumState, LeaderState, FollowerState, AddVoterHandler,
RemoveVoterHandler and KRaftControlRecordStateMachine. Nothing here comes with every request or
heartbeat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kwire.controller.operator_events import OperatorEvent
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.logdir.names import OffsetAndEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumEvent(OperatorEvent):
    """An event of the metadata quorum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChanged(QuorumEvent):
    """The replica has another role, perhaps in another epoch, and why."""

    title: ClassVar[str] = "role changed"
    role: str
    before: str
    epoch: int
    leader_id: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteGranted(QuorumEvent):
    """A candidate got this replica's vote, or its word that it would (pre_vote)."""

    title: ClassVar[str] = "vote granted"
    candidate: ReplicaKey
    epoch: int
    pre_vote: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRejected(QuorumEvent):
    """A candidate did not get this replica's vote, and why."""

    title: ClassVar[str] = "vote rejected"
    candidate: ReplicaKey
    epoch: int
    pre_vote: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionWon(QuorumEvent):
    """A majority voted for this replica, which leads the epoch."""

    title: ClassVar[str] = "election won"
    epoch: int
    granting_voters: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionLost(QuorumEvent):
    """No majority voted for this replica: too many rejected, or did not answer in time."""

    title: ClassVar[str] = "election lost"
    epoch: int
    pre_vote: bool
    reason: str
    rejecting_voters: tuple[int, ...]
    silent_voters: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderResigned(QuorumEvent):
    """This replica gave up its leadership, and why.

    fetched_voters: those that fetched since the check of the quorum began last.
    """

    title: ClassVar[str] = "leader resigned"
    epoch: int
    reason: str
    voters: tuple[int, ...]
    fetched_voters: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HighWatermarkEstablished(QuorumEvent):
    """The high watermark is known for the first time in the epoch."""

    title: ClassVar[str] = "high watermark established"
    epoch: int
    high_watermark: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTruncated(QuorumEvent):
    """Records that the leader does not have were removed, from `offset` on."""

    title: ClassVar[str] = "log truncated"
    offset: int
    end_offset: int
    leader_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFetchBegun(QuorumEvent):
    """The leader's log begins behind the end of this one: its snapshot is fetched."""

    title: ClassVar[str] = "snapshot fetch begun"
    snapshot: OffsetAndEpoch
    leader_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFetchAbandoned(QuorumEvent):
    """The leader has the snapshot no more, or sent another part: begin anew with Fetch."""

    title: ClassVar[str] = "snapshot fetch abandoned"
    snapshot: OffsetAndEpoch
    leader_id: int | None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFetched(QuorumEvent):
    """A snapshot of the leader has taken the place of the log."""

    title: ClassVar[str] = "snapshot fetched"
    snapshot: OffsetAndEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class VotersChanged(QuorumEvent):
    """Other voters are the latest in the log, committed or not.

    offset: -1 for those of the bootstrap snapshot, None for static ones.
    """

    title: ClassVar[str] = "voters changed"
    voters: tuple[ReplicaKey, ...]
    offset: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KRaftVersionChanged(QuorumEvent):
    """Another kraft.version is the latest in the log, committed or not."""

    title: ClassVar[str] = "kraft.version changed"
    kraft_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterChangeCommitted(QuorumEvent):
    """A voter is added or removed for good: its VotersRecord is committed."""

    title: ClassVar[str] = "voter change committed"
    request: str
    voter: ReplicaKey
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterChangeRefused(QuorumEvent):
    """This leader did not add, remove or update a voter, or does not know if it did, and why."""

    title: ClassVar[str] = "voter change refused"
    request: str
    voter: ReplicaKey
    error: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterRequestFailed(QuorumEvent):
    """The leader refused what this replica asked as a voter, or to become one."""

    title: ClassVar[str] = "request as voter refused by the leader"
    request: str
    leader_id: int
    error: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumStateOutdated(QuorumEvent):
    """The log has a later epoch than quorum-state, which was lost or copied back."""

    title: ClassVar[str] = "quorum-state is older than the log"
    is_warning: ClassVar[bool] = True
    epoch: int
    log_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOffsetFell(QuorumEvent):
    """A replica fetched from before an offset that it had: it has lost a part of its log."""

    title: ClassVar[str] = "fetch offset fell"
    is_warning: ClassVar[bool] = True
    replica: ReplicaKey
    before: int
    offset: int
