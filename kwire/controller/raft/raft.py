"""KRaft's replica as one function of its past: `step(event, now)` gives the effects (KIP-595)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from kwire.batches import Record, with_base_offset
from kwire.batches.record import NO_TIMESTAMP
from kwire.controller.raft import dispatch, transitions
from kwire.controller.raft.config import Config
from kwire.controller.raft.effects import Appended, RaftEffect, Rejected, ShutdownComplete
from kwire.controller.raft.election_state import ElectionState
from kwire.controller.raft.endpoints import Endpoints
from kwire.controller.raft.events import (
    Append,
    LogFlushed,
    RaftEvent,
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
from kwire.controller.raft.high_watermark import advance_high_watermark
from kwire.controller.raft.kraft_version_upgrade import upgrade_kraft_version
from kwire.controller.raft.log import Log
from kwire.controller.raft.metrics import RaftMetrics, measure
from kwire.controller.raft.poll import poll
from kwire.controller.raft.quorum_events import SnapshotFetched
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import Follower
from kwire.controller.raft.rpc.fetch import complete_delayed_fetches
from kwire.controller.raft.voter_set import VoterSet
from kwire.error_codes import ErrorCode
from kwire.logdir.names import OffsetAndEpoch


class Raft:
    """A voter or an observer of the metadata quorum, without IO and without a clock.

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
        self._is_complete = False

    def step(self, event: RaftEvent, now: int) -> list[RaftEffect]:
        """Handle an event; return its effects in the order in which to carry them out.

        1. Handle the event itself.
        2. Do what is due in the role, and in every role that this leads to.
        3. A leader flushes once all that was appended, and commits what a majority has.
        4. Answer delayed fetches whose answer has changed.
        5. Tell, once, that a shutdown is complete.

        Raises CommittedDataLost if a leader wants committed records undone: stop the node.
        """
        replica = self._replica
        self._now = now
        # The effects of the last step have been carried out: the log shows them.
        replica.log.settle()
        # 1.
        self._handle(event, now)
        # 2.
        poll(replica, now)
        # 3. One flush for all appends of the step: an fsync costs more than everything else here.
        if replica.leader:
            replica.flush()
            advance_high_watermark(replica, replica.leader)
        # 4.
        complete_delayed_fetches(replica, now)
        # 5.
        if replica.is_shutting_down and not self._is_complete and self._may_shut_down():
            self._is_complete = True
            replica.emit(ShutdownComplete())
        return replica.take_effects()

    def _handle(self, event: RaftEvent, now: int) -> None:
        replica = self._replica
        match event:
            case Start(is_replaying=is_replaying):
                replica.is_replaying = is_replaying
                replica.report_control_records()
                transitions.start(replica, self._election, now)
            case Replaying(is_replaying=is_replaying):
                transitions.set_replaying(replica, is_replaying, now)
            case Tick():
                pass
            case RequestReceived():
                dispatch.handle_request(replica, event, now)
            case ResponseReceived():
                dispatch.handle_response(replica, event, now)
            case RequestFailed():
                dispatch.handle_failure(replica, event, now)
            case Append():
                self._append(event, now)
            case LogFlushed(offset=offset):
                replica.log_flushed(offset)
            case SnapshotInstalled(id=id):
                self._snapshot_installed(id, now)
            case SnapshotTaken(id=id):
                replica.control_records.forget_before(id.offset)
            case UpgradeKRaftVersion():
                upgrade_kraft_version(replica, event, now)
            case Resign(epoch=epoch):
                if replica.leader and replica.leader.epoch == epoch:
                    replica.leader.resign_reason = "its state machine cannot lead"
            case Shutdown():
                replica.is_shutting_down = True

    def _append(self, event: Append, now: int) -> None:
        replica = self._replica
        leader = replica.leader
        if leader is None or leader.epoch != event.epoch or leader.resign_reason:
            text = f"This node does not lead the quorum in epoch {event.epoch}."
            error = ErrorCode.NOT_CONTROLLER
            replica.emit(Rejected(token=event.token, error=error, message=text))
            return
        base = replica.log.end.offset
        if event.batch is not None:
            end = replica.append(with_base_offset(event.batch, base, replica.epoch), replica.epoch)
        else:
            end = (
                replica.append_records(_with_timestamps(event.records, now))
                if event.records
                else base
            )
        replica.emit(Appended(token=event.token, base_offset=base, end_offset=end))

    def _snapshot_installed(self, id: OffsetAndEpoch, now: int) -> None:
        replica = self._replica
        replica.reset_log()
        replica.emit(SnapshotFetched(snapshot=id))
        replica.commit(id.offset)
        role = replica.role
        if (
            isinstance(role, Follower)
            and role.snapshot_download
            and role.snapshot_download.id == id
        ):
            role.snapshot_download = None
        if isinstance(role, Follower):  # it could not fetch while the snapshot was flushed
            role.fetch_deadline = max(role.fetch_deadline, now + self.config.fetch_timeout_ms)

    def _may_shut_down(self) -> bool:
        role, config = self._replica.role, self.config
        has_remote_leader = role.leader_id not in (None, config.node_id)
        is_alone = self._replica.control_records.voters.contains_only(config.key)
        return has_remote_leader or is_alone or not self._replica.is_voter

    @property
    def deadline(self) -> int | None:
        """The time of the next Tick; None: not before another event."""
        replica, now = self._replica, self._now
        if not replica.log.is_settled:
            return now
        times = [replica.role.deadline, replica.request_manager.deadline(now)]
        times += [delayed.deadline for delayed in replica.fetch_purgatory]
        return min((time for time in times if time is not None and time > now), default=None)

    @property
    def role(self) -> str:
        """The role's name: unattached, prospective, candidate, follower, leader or resigned."""
        return self._replica.role.name

    @property
    def epoch(self) -> int:
        """The present epoch."""
        return self._replica.epoch

    @property
    def leader_id(self) -> int | None:
        """The leader of the epoch, as far as this replica knows."""
        return self._replica.role.leader_id

    @property
    def leader_endpoints(self) -> Endpoints:
        """The leader's addresses; empty while they are not known."""
        return self._replica.role.leader_endpoints

    @property
    def is_voter(self) -> bool:
        """True if this replica is in the latest voter set; else it is an observer."""
        return self._replica.is_voter

    @property
    def high_watermark(self) -> int | None:
        """The offset below which all is committed; a new leader does not know it at first."""
        leader, committed = self._replica.leader, self._replica.committed
        if leader:
            return leader.high_watermark
        return committed if committed >= 0 else None

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self._replica.log.end.offset

    @property
    def voters(self) -> VoterSet:
        """The latest voter set in log, snapshot or configuration, committed or not."""
        return self._replica.control_records.voters

    @property
    def kraft_version(self) -> int:
        """The latest kraft.version in the log, committed or not."""
        return self._replica.control_records.kraft_version

    def voters_at(self, offset: int) -> VoterSet | None:
        """Return the voters for a snapshot that contains `offset`; None if the log names none."""
        return self._replica.control_records.voters_at(offset)

    def kraft_version_at(self, offset: int) -> int:
        """Return the level for a snapshot that contains `offset`."""
        return self._replica.control_records.kraft_version_at(offset)

    @property
    def metrics(self) -> RaftMetrics:
        """KIP-595's and KIP-853's gauges, now."""
        return measure(self._replica, self._now)


def _with_timestamps(records: Iterable[Record], now: int) -> Iterator[Record]:
    for record in records:
        if record.timestamp == NO_TIMESTAMP:
            record = msgspec.structs.replace(record, timestamp=now)
        yield record
