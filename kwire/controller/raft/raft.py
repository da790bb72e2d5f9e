"""KRaft's replica as one function of its past: `step(event, now)` gives the effects (KIP-595)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from kwire.batches import Record, with_base_offset
from kwire.batches.record import NO_TIMESTAMP
from kwire.controller.raft import duties, kraft_version, transitions
from kwire.controller.raft.commitment import advance
from kwire.controller.raft.config import Config
from kwire.controller.raft.dispatch import answer, take_failure, take_response
from kwire.controller.raft.effects import Appended, Effect, Rejected, ShutdownComplete
from kwire.controller.raft.election_state import ElectionState
from kwire.controller.raft.endpoints import Endpoints
from kwire.controller.raft.events import (
    Append,
    Event,
    LogFlushed,
    Replaying,
    RequestFailed,
    RequestReceived,
    Resign,
    ResponseReceived,
    Shutdown,
    SnapshotInstalled,
    SnapshotTaken,
    Start,
    Tick,
    UpgradeKRaftVersion,
)
from kwire.controller.raft.log import Log
from kwire.controller.raft.metrics import RaftMetrics, measure
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import Follower
from kwire.controller.raft.rpc import fetch
from kwire.controller.raft.voter_set import VoterSet
from kwire.error_codes import ErrorCode
from kwire.logdir.names import OffsetAndEpoch


class Raft:
    """A voter or an observer of the metadata quorum. It does no IO and knows no clock.

    election: from quorum-state; None for a replica that never had one.
    below: the one source of chance, a number from 0 to its argument, exclusive.

    The first event is Start. The effects of a step are carried out, in their order, before the
    next one. `now` is milliseconds since 1970 and may stand still or jump, not without harm to
    timeouts, but to nothing else.
    """

    def __init__(
        self,
        config: Config,
        log: Log,
        election: ElectionState | None = None,
        *,
        below: Callable[[int], int],
    ) -> None:
        self.config = config
        self._election = election or ElectionState()
        self._replica = Replica(config, log, self._election, below)
        self._now = 0
        self._has_gone = False

    def step(self, event: Event, now: int) -> list[Effect]:
        """Everything that follows from an event.

        1. The event itself.
        2. What the role then has to do, in whatever role that leads to.
        3. Parked fetches whose answer has changed, one flush of all that was appended.
        Raises CommittedDataLost where a leader wants committed records undone: stop the node.
        """
        replica = self._replica
        self._now = now
        replica.tail.settle()
        self._take(event, now)
        duties.attend(replica, now)
        if replica.leader:
            replica.flush()
            advance(replica, replica.leader)
        fetch.release(replica, now)
        if replica.is_shutting_down and not self._has_gone and self._is_free_to_go():
            self._has_gone = True
            replica.emit(ShutdownComplete())
        return replica.take_effects()

    def _take(self, event: Event, now: int) -> None:
        replica = self._replica
        match event:
            case Start(is_replaying=is_replaying):
                replica.is_replaying = is_replaying
                transitions.start(replica, self._election, now)
            case Replaying(is_replaying=is_replaying):
                transitions.replaying(replica, is_replaying, now)
            case Tick():
                pass
            case RequestReceived():
                answer(replica, event, now)
            case ResponseReceived():
                take_response(replica, event, now)
            case RequestFailed():
                take_failure(replica, event, now)
            case Append():
                self._append(event, now)
            case LogFlushed(offset=offset):
                replica.log_flushed(offset)
            case SnapshotInstalled(id=id):
                self._snapshot_installed(id, now)
            case SnapshotTaken(id=id):
                replica.history.forget_before(id.offset)
            case UpgradeKRaftVersion():
                kraft_version.upgrade(replica, event, now)
            case Resign(epoch=epoch):
                if replica.leader and replica.leader.epoch == epoch:
                    replica.leader.resign_requested = True
            case Shutdown():
                replica.is_shutting_down = True

    def _append(self, event: Append, now: int) -> None:
        replica = self._replica
        leader = replica.leader
        if leader is None or leader.epoch != event.epoch or leader.resign_requested:
            text = f"This node does not lead the quorum in epoch {event.epoch}."
            error = ErrorCode.NOT_CONTROLLER
            replica.emit(Rejected(token=event.token, error=error, message=text))
            return
        base = replica.tail.end.offset
        if event.batch is not None:
            end = replica.append(with_base_offset(event.batch, base, replica.epoch), replica.epoch)
        else:
            end = replica.append_records(_dated(event.records, now)) if event.records else base
        replica.emit(Appended(token=event.token, base_offset=base, end_offset=end))

    def _snapshot_installed(self, id: OffsetAndEpoch, now: int) -> None:
        replica = self._replica
        replica.reset_log()
        replica.commit(id.offset)
        role = replica.role
        if isinstance(role, Follower) and role.download and role.download.id == id:
            role.download = None
        if isinstance(role, Follower):  # it could not fetch while the snapshot was flushed
            role.fetch_deadline = max(role.fetch_deadline, now + self.config.fetch_timeout_ms)

    def _is_free_to_go(self) -> bool:
        role, config = self._replica.role, self.config
        has_remote_leader = role.leader_id not in (None, config.node_id)
        is_alone = self._replica.history.voters.contains_only(config.key)
        return has_remote_leader or is_alone or not self._replica.is_voter

    @property
    def deadline(self) -> int | None:
        """When the next Tick is due; None: not before something else happens."""
        replica, now = self._replica, self._now
        if not replica.tail.is_settled:
            return now
        times = [replica.role.deadline, replica.connections.deadline(now)]
        times += [parked.deadline for parked in replica.parked]
        return min((time for time in times if time is not None and time > now), default=None)

    @property
    def role(self) -> str:
        """unattached, prospective, candidate, follower, leader or resigned."""
        return self._replica.role.name

    @property
    def epoch(self) -> int:
        """The present epoch."""
        return self._replica.epoch

    @property
    def leader_id(self) -> int | None:
        """Who leads it, as far as this replica knows."""
        return self._replica.role.leader_id

    @property
    def leader_endpoints(self) -> Endpoints:
        """Where the leader is reached; empty while that is not known."""
        return self._replica.role.leader_endpoints

    @property
    def is_voter(self) -> bool:
        """Whether this replica is in the latest voter set; else it is an observer."""
        return self._replica.is_voter

    @property
    def high_watermark(self) -> int | None:
        """What lies below is committed; a new leader does not know it at first."""
        leader, committed = self._replica.leader, self._replica.committed
        if leader:
            return leader.high_watermark
        return committed if committed >= 0 else None

    @property
    def end_offset(self) -> int:
        """Where the next Append begins."""
        return self._replica.tail.end.offset

    @property
    def voters(self) -> VoterSet:
        """The latest voter set in log, snapshot or configuration, committed or not."""
        return self._replica.history.voters

    @property
    def kraft_version(self) -> int:
        """The latest kraft.version in the log, committed or not."""
        return self._replica.history.kraft_version

    def voters_at(self, offset: int) -> VoterSet | None:
        """What a snapshot that contains `offset` must say; None where the log says nothing."""
        return self._replica.history.voters_at(offset)

    def kraft_version_at(self, offset: int) -> int:
        """The level that a snapshot that contains `offset` must name."""
        return self._replica.history.kraft_version_at(offset)

    @property
    def metrics(self) -> RaftMetrics:
        """KIP-595's and KIP-853's gauges, now."""
        return measure(self._replica, self._now)


def _dated(records: Iterable[Record], now: int) -> Iterator[Record]:
    for record in records:
        if record.timestamp == NO_TIMESTAMP:
            record = msgspec.structs.replace(record, timestamp=now)
        yield record
