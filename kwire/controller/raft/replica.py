"""The state of a replica, and the few ways in which it changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from kwire.batches import Record, build_batch
from kwire.batches.control_records import QuorumMessage, quorum_record
from kwire.codec.declaration import Request
from kwire.controller.raft.config import Config
from kwire.controller.raft.connections import Connections
from kwire.controller.raft.control_history import ControlHistory
from kwire.controller.raft.effects import (
    AppendLog,
    Commit,
    Effect,
    FlushLog,
    LeaderChanged,
    PersistElection,
    Send,
    TruncateLog,
)
from kwire.controller.raft.election_state import ElectionState
from kwire.controller.raft.endpoints import Node
from kwire.controller.raft.log import Log
from kwire.controller.raft.parked_fetch import ParkedFetch
from kwire.controller.raft.roles import Leader, Role, Unattached
from kwire.controller.raft.tail import Tail
from kwire.logdir.names import OffsetAndEpoch

_FIRST_BOOTSTRAP_ID = -2


class Replica:
    """What the RPCs, the roles' duties and the transitions work on.

    committed: the high watermark that the state machine was told; it never falls.
    flushed: the log is on the disk up to here.
    is_replaying: the state machine is behind with what it has to apply.
    is_installing: a snapshot is about to take the log's place; nothing is fetched meanwhile.
    parked: fetches that wait for something new.
    """

    def __init__(
        self, config: Config, log: Log, election: ElectionState, below: Callable[[int], int]
    ) -> None:
        self.config = config
        self.below = below
        self.tail = Tail(log)
        self.history = ControlHistory(config.static_voters)
        self.history.load(log)
        self.connections = Connections(
            bootstrap=_bootstrap_nodes(config),
            request_timeout_ms=config.request_timeout_ms,
            retry_backoff_ms=config.retry_backoff_ms,
            below=below,
        )
        self.role: Role = Unattached(epoch=election.epoch, election_deadline=0)
        self.parked: list[ParkedFetch] = []
        self.committed = -1
        self.flushed = self.tail.end.offset
        self.is_shutting_down = False
        self.is_replaying = False
        self.is_installing = False
        self._effects: list[Effect] = []
        self._flushes: deque[tuple[int, int]] = deque()
        self._persisted: PersistElection | None = None
        self._announced: LeaderChanged | None = None

    @property
    def epoch(self) -> int:
        """The present epoch."""
        return self.role.epoch

    @property
    def is_voter(self) -> bool:
        """Whether the latest voter set has this replica."""
        return self.history.voters.contains(self.config.key)

    @property
    def may_stand(self) -> bool:
        """Whether this replica may stand for election.

        1. It votes, by the latest voter set.
        2. Or the record that removed it is not known to be committed. A leader that removes itself
           and dies has the longest log; if it did not stand, and its successors lacked that
           record, nobody could win any more (Ongaro 4.2.2; Kafka 4.3 does get stuck there).
        """
        entry, key = self.history.voters_entry, self.config.key
        is_open = entry is not None and entry.offset >= self.committed
        return self.is_voter or (is_open and self.history.previous_voters.contains(key))

    @property
    def stands(self) -> bool:
        """True if this replica would stand for election once its time-out is over."""
        is_ready = not self.is_replaying and not self.is_installing
        return self.may_stand and is_ready and not self.is_shutting_down

    @property
    def leader(self) -> Leader | None:
        """The role, where it is that of the leader."""
        return self.role if isinstance(self.role, Leader) else None

    def emit(self, *effects: Effect) -> None:
        """More to do."""
        self._effects.extend(effects)

    def take_effects(self) -> list[Effect]:
        """All there is to do; whoever takes them carries them out."""
        effects, self._effects = self._effects, []
        return effects

    def become(self, role: Role, *, durable: bool = True) -> None:
        """Another role. Durable ones are on the disk before anybody hears of them."""
        self.role = role
        if durable:
            self._persist(role.election)
        changed = LeaderChanged(epoch=role.epoch, leader_id=role.leader_id)
        if changed != self._announced:
            self._announced = changed
            self.emit(changed)

    def _persist(self, election: ElectionState) -> None:
        version = min(self.history.kraft_version, 1)
        data = election.to_data(version, self.history.voters.ids)
        effect = PersistElection(data=data, version=version)
        if effect != self._persisted:
            self._persisted = effect
            self.emit(effect)

    def send(self, node: Node, request: Callable[[], Request], now: int) -> bool:
        """Ask a peer, if nothing is under way to it and it does not pause; whether that was so."""
        if not self.connections.is_ready(node, now):
            return False
        correlation = self.connections.sent(node, now)
        self.emit(Send(correlation=correlation, destination=node, request=request()))
        return True

    def append_records(self, records: Iterable[Record], *, is_control: bool = False) -> int:
        """One batch of this leader's, flushed later; the offset behind it."""
        batch = build_batch(
            records,
            base_offset=self.tail.end.offset,
            partition_leader_epoch=self.epoch,
            is_control=is_control,
        )
        return self.append(batch, self.epoch)

    def append_control(self, messages: Iterable[QuorumMessage], now: int) -> int:
        """A control batch; the offset of its last record."""
        records = [quorum_record(message, timestamp=now) for message in messages]
        return self.append_records(records, is_control=True) - 1

    def append(self, data: bytes, epoch: int) -> int:
        """Batches with their offsets, the last one of `epoch`; the offset behind them."""
        end = OffsetAndEpoch(offset=self.history.read(data), epoch=epoch)
        self.tail.append(data, end)
        self.emit(AppendLog(data=data, end_offset=end.offset))
        return end.offset

    def truncate(self, position: OffsetAndEpoch) -> None:
        """Give up what this replica has behind `position`."""
        self.tail.truncate(position)
        self.history.truncate(position.offset)
        self.flushed = min(self.flushed, position.offset)
        self._flushes = deque((asked, min(true, position.offset)) for asked, true in self._flushes)
        self.emit(TruncateLog(offset=position.offset))

    def flush(self) -> None:
        """Have everything appended so far on the disk."""
        end = self.tail.end.offset
        if self._flush_end() < end:
            self._flushes.append((end, end))
            self.emit(FlushLog(offset=end))

    def log_flushed(self, offset: int) -> None:
        """A flush is done. What was truncated since it was asked for does not count."""
        while self._flushes and self._flushes[0][0] != offset:
            self._flushes.popleft()
        if self._flushes:
            self.flushed = max(self.flushed, self._flushes.popleft()[1])

    def _flush_end(self) -> int:
        return max((true for _, true in self._flushes), default=self.flushed)

    @property
    def is_flushing(self) -> bool:
        """Whether the log has more than the disk surely has."""
        return bool(self._flushes)

    def reset_log(self) -> None:
        """A snapshot has taken the log's place."""
        self.is_installing = False
        self.tail.settle()
        self.history.load(self.tail.log)
        self._flushes.clear()
        self.flushed = self.tail.end.offset

    def commit(self, high_watermark: int) -> None:
        """Tell the state machine, unless it knows."""
        if high_watermark > self.committed:
            self.committed = high_watermark
            self.emit(Commit(high_watermark=high_watermark))

    def random_election_timeout(self) -> int:
        """Between once and twice the election timeout, so that few stand at the same time."""
        timeout = self.config.election_timeout_ms
        return timeout + self.below(timeout) if timeout else 0

    def random_fetch_timeout(self) -> int:
        """Up to a tenth more than the fetch timeout.

        Fetches that wait at a leader are answered together: without chance all followers would
        stand for election in the same millisecond after its death, and split the votes.
        """
        timeout = self.config.fetch_timeout_ms
        return timeout + self.below(timeout // 10 + 1)


def _bootstrap_nodes(config: Config) -> list[Node]:
    servers = config.bootstrap_servers
    if servers:
        return [
            Node(id=_FIRST_BOOTSTRAP_ID - index, host=host, port=port)
            for index, (host, port) in enumerate(servers)
        ]
    voters = config.static_voters
    nodes = (voters.node(id, config.listener) for id in sorted(voters.ids - {config.node_id}))
    return [node for node in nodes if node is not None]
