"""The state of a replica and the basic changes of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kwire.batches import Record, build_batch
from kwire.batches.control_records import QuorumMessage, quorum_record
from kwire.codec.declaration import Request
from kwire.controller.raft.config import Config
from kwire.controller.raft.control_record_state_machine import ControlRecordStateMachine
from kwire.controller.raft.effects import (
    AppendLog,
    Commit,
    FlushLog,
    LeaderChanged,
    PersistElection,
    RaftEffect,
    Send,
    TruncateLog,
)
from kwire.controller.raft.election_state import ElectionState
from kwire.controller.raft.endpoints import PeerNode
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.log import Log
from kwire.controller.raft.log_history import LogHistoryEntry
from kwire.controller.raft.quorum_events import KRaftVersionChanged, VotersChanged
from kwire.controller.raft.replicated_log import ReplicatedLog
from kwire.controller.raft.request_manager import RequestManager
from kwire.controller.raft.roles import Leader, Role, Unattached
from kwire.controller.raft.voter_set import VoterSet
from kwire.logdir.names import OffsetAndEpoch

_FIRST_BOOTSTRAP_ID = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayedFetch:
    """A Fetch that the leader holds back until there is something new to say.

    offset: the fetch offset. high_watermark, epoch: the leader's when the request came.
    deadline: when an empty answer is due.
    """

    received: RequestReceived
    offset: int
    high_watermark: int
    epoch: int
    deadline: int

    def is_due(self, end_offset: int, high_watermark: int, now: int) -> bool:
        """True if there are records or a higher high watermark to tell, or time is up."""
        return (
            end_offset > self.offset or high_watermark > self.high_watermark or now >= self.deadline
        )


class Replica:
    """The state that `rpc`, `poll` and `transitions` read and change.

    committed: the high watermark that the state machine was told; it never falls.
    flushed: the log is on the disk up to here.
    is_replaying: the state machine has not yet applied what it has to.
    is_installing: a snapshot is about to take the log's place; nothing is fetched meanwhile.
    fetch_purgatory: fetches that wait for something new (Java: fetchPurgatory).
    random_below: returns a random number from 0 to its argument, exclusive.
    """

    def __init__(
        self, config: Config, log: Log, election: ElectionState, below: Callable[[int], int]
    ) -> None:
        self.config = config
        self.random_below = below
        self.log = ReplicatedLog(log)
        self.control_records = ControlRecordStateMachine(config.static_voters)
        self.control_records.load(log)
        self.request_manager = RequestManager(
            bootstrap=_bootstrap_nodes(config),
            request_timeout_ms=config.request_timeout_ms,
            retry_backoff_ms=config.retry_backoff_ms,
            below=below,
        )
        self.role: Role = Unattached(epoch=election.epoch, election_deadline=0)
        self.fetch_purgatory: list[DelayedFetch] = []
        self.committed = -1
        self.flushed = self.log.end.offset
        self.is_shutting_down = False
        self.is_replaying = False
        self.is_installing = False
        self._effects: list[RaftEffect] = []
        self._flushes: deque[tuple[int, int]] = deque()
        self._persisted: PersistElection | None = None
        self._announced: LeaderChanged | None = None
        self._reported_voters: LogHistoryEntry[VoterSet] | None = None
        self._reported_kraft_version = 0

    @property
    def epoch(self) -> int:
        """The present epoch."""
        return self.role.epoch

    @property
    def is_voter(self) -> bool:
        """True if the latest voter set has this replica."""
        return self.control_records.voters.contains(self.config.key)

    @property
    def may_become_candidate(self) -> bool:
        """True if this replica may stand for election.

        1. It votes, by the latest voter set.
        2. Or the record that removed it is not known to be committed.
        """
        # 1., 2. A leader that removes itself and dies has the longest log; if it did not stand, and
        # its successors lacked that record, nobody could win any more (Ongaro 4.2.2; Kafka 4.3 does
        # get stuck there).
        entry, key = self.control_records.voters_entry, self.config.key
        is_open = entry is not None and entry.offset >= self.committed
        return self.is_voter or (is_open and self.control_records.previous_voters.contains(key))

    @property
    def is_ready_for_election(self) -> bool:
        """True if this replica stands for election once its timeout is over."""
        is_ready = not self.is_replaying and not self.is_installing
        return self.may_become_candidate and is_ready and not self.is_shutting_down

    @property
    def leader(self) -> Leader | None:
        """The role if it is that of the leader, else None."""
        return self.role if isinstance(self.role, Leader) else None

    def emit(self, *effects: RaftEffect) -> None:
        """Add effects to those of this step."""
        self._effects.extend(effects)

    def take_effects(self) -> list[RaftEffect]:
        """Return the effects of this step, once: the caller carries them out."""
        effects, self._effects = self._effects, []
        return effects

    def become(self, role: Role, *, durable: bool = True) -> None:
        """Change the role: only `transitions` calls this.

        Durable roles are on the disk before any peer learns of them.
        """
        self.role = role
        if durable:
            self._persist(role.election)
        changed = LeaderChanged(epoch=role.epoch, leader_id=role.leader_id)
        if changed != self._announced:
            self._announced = changed
            self.emit(changed)

    def _persist(self, election: ElectionState) -> None:
        version = min(self.control_records.kraft_version, 1)
        data = election.to_data(version, self.control_records.voters.ids)
        effect = PersistElection(data=data, version=version)
        if effect != self._persisted:
            self._persisted = effect
            self.emit(effect)

    def send(self, node: PeerNode, request: Callable[[], Request], now: int) -> bool:
        """Send a request, unless one is under way to the peer or it pauses; return True if sent."""
        if not self.request_manager.is_ready(node, now):
            return False
        correlation = self.request_manager.on_request_sent(node, now)
        self.emit(Send(correlation=correlation, destination=node, request=request()))
        return True

    def append_records(self, records: Iterable[Record], *, is_control: bool = False) -> int:
        """Append one batch of this leader's; return the offset after it. It is flushed later."""
        batch = build_batch(
            records,
            base_offset=self.log.end.offset,
            partition_leader_epoch=self.epoch,
            is_control=is_control,
        )
        return self.append(batch, self.epoch)

    def append_control(self, messages: Iterable[QuorumMessage], now: int) -> int:
        """Append a control batch; return the offset of its last record."""
        records = [quorum_record(message, timestamp=now) for message in messages]
        return self.append_records(records, is_control=True) - 1

    def append(self, data: bytes, epoch: int) -> int:
        """Append batches with their offsets, the last of `epoch`; return the offset after them."""
        end = OffsetAndEpoch(offset=self.control_records.read(data), epoch=epoch)
        self.log.append(data, end)
        self.emit(AppendLog(data=data, end_offset=end.offset))
        self.report_control_records()
        return end.offset

    def truncate(self, position: OffsetAndEpoch) -> None:
        """Remove everything from `position` on from the log."""
        self.log.truncate(position)
        self.control_records.truncate(position.offset)
        self.flushed = min(self.flushed, position.offset)
        self._flushes = deque((asked, min(end, position.offset)) for asked, end in self._flushes)
        self.emit(TruncateLog(offset=position.offset))
        self.report_control_records()

    def flush(self) -> None:
        """Flush everything appended so far."""
        end = self.log.end.offset
        if self._flush_end() < end:
            self._flushes.append((end, end))
            self.emit(FlushLog(offset=end))

    def log_flushed(self, offset: int) -> None:
        """Note that a flush is done. What was truncated since it was asked for does not count."""
        while self._flushes and self._flushes[0][0] != offset:
            self._flushes.popleft()
        if self._flushes:
            self.flushed = max(self.flushed, self._flushes.popleft()[1])

    def _flush_end(self) -> int:
        return max((end for _, end in self._flushes), default=self.flushed)

    @property
    def is_flushing(self) -> bool:
        """True if a flush is under way: the disk may lack the end of the log."""
        return bool(self._flushes)

    def reset_log(self) -> None:
        """Read the log anew: a snapshot has taken its place."""
        self.is_installing = False
        self.log.settle()
        self.control_records.load(self.log.stored)
        self._flushes.clear()
        self.flushed = self.log.end.offset
        self.report_control_records()

    def report_control_records(self) -> None:
        """Tell of other voters and of another kraft.version, if the log has them now."""
        entry, level = self.control_records.voters_entry, self.control_records.kraft_version
        if entry is not self._reported_voters:
            self._reported_voters = entry
            offset = entry.offset if entry else None
            self.emit(VotersChanged(voters=self.control_records.voters.keys, offset=offset))
        if level != self._reported_kraft_version:
            self._reported_kraft_version = level
            self.emit(KRaftVersionChanged(kraft_version=level))

    def commit(self, high_watermark: int) -> None:
        """Tell the state machine of a higher high watermark."""
        if high_watermark > self.committed:
            self.committed = high_watermark
            self.emit(Commit(high_watermark=high_watermark))

    def random_election_timeout(self) -> int:
        """Return once to twice the election timeout, so that few stand at the same time."""
        timeout = self.config.election_timeout_ms
        return timeout + self.random_below(timeout) if timeout else 0

    def random_fetch_timeout(self) -> int:
        """Return up to a tenth more than the fetch timeout.

        Fetches that wait at a leader are answered together: without chance all followers would
        stand for election in the same millisecond after its death, and split the votes.
        """
        timeout = self.config.fetch_timeout_ms
        return timeout + self.random_below(timeout // 10 + 1)


def _bootstrap_nodes(config: Config) -> list[PeerNode]:
    servers = config.bootstrap_servers
    if servers:
        return [
            PeerNode(id=_FIRST_BOOTSTRAP_ID - index, host=host, port=port)
            for index, (host, port) in enumerate(servers)
        ]
    voters = config.static_voters
    nodes = (voters.node(id, config.listener) for id in sorted(voters.ids - {config.node_id}))
    return [node for node in nodes if node is not None]
