"""Replicas on a virtual network with a virtual clock: no loss, one millisecond a message.

Every message goes through its bytes, at the greatest version that both ends know.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID

from kwire.batches import Record, build_batch, read_batches
from kwire.batches.control_records import QuorumMessage, quorum_record
from kwire.codec.declaration import Request, Response
from kwire.controller.raft import (
    BOOTSTRAP_SNAPSHOT,
    Append,
    Appended,
    Commit,
    Config,
    ElectionState,
    Endpoints,
    ListenerEndpoint,
    PersistElection,
    Raft,
    RaftEffect,
    RaftEvent,
    Rejected,
    ReplicaKey,
    Reply,
    RequestFailed,
    RequestReceived,
    ResponseReceived,
    Send,
    Start,
    Tick,
    Voter,
    VoterSet,
)
from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    SupportedFeatureKey,
)
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord
from kwire.messages.data.snapshot_footer_record import SnapshotFooterRecord
from kwire.messages.data.snapshot_header_record import SnapshotHeaderRecord
from kwire.net.negotiation import VersionRange
from memory_log import MemoryLog

CLUSTER_ID = "kwire-test-cluster-id0"
LISTENER = "CONTROLLER"
START = 1_000_000


def directory(id: int, disk: int = 0) -> UUID:
    """The directory id of a node's n-th disk."""
    return UUID(int=(id << 64) + (disk << 32) + 0xD1)


def key(id: int, disk: int = 0) -> ReplicaKey:
    """A replica."""
    return ReplicaKey(id=id, directory_id=directory(id, disk))


def endpoints(id: int, port: int | None = None) -> Endpoints:
    """Return the endpoints of a controller."""
    return Endpoints((ListenerEndpoint(name=LISTENER, host=f"c{id}", port=port or 9000 + id),))


def voter(id: int, disk: int = 0) -> Voter:
    """A voter of kraft.version 1."""
    return Voter(key=key(id, disk), endpoints=endpoints(id), supported=VersionRange(0, 1))


def voter_set(*ids: int) -> VoterSet:
    """These voters, on their first disks."""
    return VoterSet.of(voter(id) for id in ids)


def static_voters(*ids: int) -> VoterSet:
    """Return static voters, as controller.quorum.voters names them."""
    return VoterSet.of(Voter(key=ReplicaKey(id=id), endpoints=endpoints(id)) for id in ids)


def control_batch(messages: Iterable[QuorumMessage], base: int, epoch: int) -> bytes:
    """One control batch."""
    records = [quorum_record(message, timestamp=START) for message in messages]
    return build_batch(records, base_offset=base, partition_leader_epoch=epoch, is_control=True)


def snapshot(voters: VoterSet | None, epoch: int = 0) -> bytes:
    """A checkpoint with these voters and nothing else."""
    messages: list[QuorumMessage] = []
    if voters is not None:
        messages = [KRaftVersionRecord(version=0, k_raft_version=1), voters.to_record()]
    header = control_batch([SnapshotHeaderRecord(version=0)], 0, epoch)
    middle = control_batch(messages, 1, epoch) if messages else b""
    footer = control_batch([SnapshotFooterRecord(version=0)], 1 + len(messages), epoch)
    return header + middle + footer


def config(id: int, **changes: Any) -> Config:
    """A controller that knows bootstrap servers 1 to 3."""
    servers = tuple((f"c{n}", 9000 + n) for n in (1, 2, 3))
    settings: dict[str, Any] = {"bootstrap_servers": servers, "endpoints": endpoints(id)}
    settings |= {"node_id": id, "directory_id": directory(id), "cluster_id": CLUSTER_ID}
    return Config(**(settings | changes))


@dataclass(kw_only=True)
class Host:
    """A machine: what is on its disk, and the replica that runs on it, if one does."""

    config: Config
    log: MemoryLog
    seed: int
    election: ElectionState | None = None
    raft: Raft | None = None
    effects: list[RaftEffect] = field(default_factory=list)
    history: list[RaftEffect] = field(default_factory=list)

    @property
    def running(self) -> Raft:
        """The replica."""
        assert self.raft is not None, f"{self.config.node_id} is down"
        return self.raft

    @property
    def values(self) -> list[bytes | None]:
        """The values of all data records in its log."""
        data = self.log.read(self.log.start_offset, 1 << 30)
        batches = (batch for batch in read_batches(data) if not batch.is_control)
        return [record.value for batch in batches for record in batch.records()]


class Network:
    """Hosts that can be cut off and killed."""

    def __init__(self, seed: int = 1) -> None:
        self.now = START
        self.hosts: dict[int, Host] = {}
        self.cut: Callable[[int, int], bool] = lambda source, destination: False
        self.answers: dict[object, Response] = {}
        self._random = Random(seed)
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0

    def add(self, id: int, log: MemoryLog | None = None, **changes: object) -> Host:
        """A host, running."""
        host = Host(
            config=config(id, **changes),
            log=log or MemoryLog(),
            seed=self._random.randrange(1 << 30),
        )
        self.hosts[id] = host
        self.start(id)
        return host

    def start(self, id: int) -> None:
        """Run a replica on what the host's disk has."""
        host = self.hosts[id]
        below = Random(host.seed + self.now).randrange
        host.raft = Raft(host.config, host.log, host.election, below=below)
        self.step(id, Start())

    def kill(self, id: int) -> None:
        """Stop at once; what was not flushed is lost."""
        self.hosts[id].raft = None
        self.hosts[id].log.crash()

    def step(self, id: int, event: RaftEvent) -> list[RaftEffect]:
        """Give a replica an event, and carry the effects out."""
        host = self.hosts[id]
        if host.raft is None:
            return []
        effects = host.raft.step(event, self.now)
        host.history += effects
        for effect in effects:
            self._carry_out(host, effect)
        return effects

    def _carry_out(self, host: Host, effect: RaftEffect) -> None:
        id = host.config.node_id
        match effect:
            case PersistElection(data=data):
                host.election = ElectionState.from_data(data)
            case Send():
                self._send(id, effect)
            case Reply(token=tuple() as token):
                source, correlation, version = token
                self._respond(id, int(source), int(correlation), int(version), effect.response)
            case Reply(token=token):
                self.answers[token] = effect.response
            case _:
                event = host.log.carry_out(effect)
                if event is not None:
                    self._later(0, lambda: self.step(id, event))

    def _send(self, source: int, send: Send) -> None:
        target = next((h for h in self.hosts.values() if send.destination.port == _port(h)), None)
        target_id = target.config.node_id if target else -1
        if target is None or target.raft is None or self.cut(source, target_id):
            error = ErrorCode.BROKER_NOT_AVAILABLE
            failed = RequestFailed(correlation=send.correlation, error=error)
            self._later(1, lambda: self.step(source, failed))
            return
        request, version = _through_bytes(send.request)
        token = (source, send.correlation, version)
        received = RequestReceived(token=token, request=request, version=version)
        self._later(1, lambda: self.deliver(target_id, received))

    def deliver(self, target: int, received: RequestReceived) -> None:
        """A request arrives."""
        if isinstance(received.request, ApiVersionsRequest):
            self._answer_versions(target, received)
        else:
            self.step(target, received)

    def _answer_versions(self, target: int, received: RequestReceived) -> None:
        kraft = self.hosts[target].config.supported_kraft_version
        feature = SupportedFeatureKey(
            name="kraft.version", min_version=kraft.min_version, max_version=kraft.max_version
        )
        assert isinstance(received.token, tuple)
        source, correlation, version = received.token
        response = ApiVersionsResponse(supported_features=[feature])
        self._respond(target, source, correlation, version, response)

    def _respond(
        self, source: int, target: int, correlation: int, version: int, response: Response
    ) -> None:
        if self.cut(source, target):
            return
        kind = type(response)
        copy = kind.decode(response.encode(version), version)
        received = ResponseReceived(correlation=correlation, response=copy)
        self._later(1, lambda: self.step(target, received))

    def _later(self, delay: int, action: Callable[[], object]) -> None:
        self._count += 1
        heapq.heappush(self._queue, (self.now + delay, self._count, lambda: (action(), None)[1]))

    def run(self, milliseconds: int) -> None:
        """Let time pass."""
        self.until(lambda: False, milliseconds, must=False)

    def until(self, done: Callable[[], bool], limit: int = 30_000, *, must: bool = True) -> None:
        """Let time pass until something is so."""
        end = self.now + limit
        while not done():
            self._tick_all()
            times = [h.raft.deadline for h in self.hosts.values() if h.raft]
            next_message = self._queue[0][0] if self._queue else end + 1
            due = min([time for time in times if time is not None] + [next_message])
            if due > end:
                self.now = end
                assert not must, "it did not happen in time"
                return
            self.now = max(self.now, due)
            while self._queue and self._queue[0][0] <= self.now:
                heapq.heappop(self._queue)[2]()

    def _tick_all(self) -> None:
        for id, host in self.hosts.items():
            deadline = host.raft.deadline if host.raft else None
            if deadline is not None and deadline <= self.now:
                self.step(id, Tick())

    @property
    def leader(self) -> Host | None:
        """The leader of the greatest epoch, once it has committed something."""
        leaders = [h for h in self.hosts.values() if h.raft and h.raft.role == "leader"]
        ready = [h for h in leaders if h.running.high_watermark is not None]
        return max(ready, key=lambda h: h.running.epoch, default=None)

    def elect(self) -> Host:
        """Let time pass until somebody leads."""
        self.until(lambda: self.leader is not None)
        assert self.leader is not None
        return self.leader

    def append(self, *values: bytes) -> int:
        """Have the leader append records; the offset behind them."""
        leader = self.elect()
        records = tuple(Record(value=value) for value in values)
        event = Append(token="append", epoch=leader.running.epoch, records=records)
        for effect in self.step(leader.config.node_id, event):
            assert not isinstance(effect, Rejected)
            if isinstance(effect, Appended):
                return effect.end_offset
        raise AssertionError("no answer to an append")

    def commit(self, *values: bytes) -> int:
        """Append and wait until every running replica knows that it is committed."""
        end = self.append(*values)
        self.until(lambda: all(committed(h) >= end for h in self.hosts.values() if h.raft))
        return end

    def ask(self, id: int, request: Request, version: int | None = None) -> Response:
        """Ask a replica; return its response, at once or after a while."""
        self._count += 1
        token = f"ask-{self._count}"
        version = max(type(request).versions) if version is None else version
        received = RequestReceived(token=token, request=request, version=version)
        self.step(id, received)
        self.until(lambda: token in self.answers)
        return self.answers[token]


def committed(host: Host) -> int:
    """The last high watermark that a host's state machine was told since it was made."""
    commits = [effect for effect in host.history if isinstance(effect, Commit)]
    return commits[-1].high_watermark if commits else -1


def dynamic_quorum(*ids: int, seed: int = 1, observers: tuple[int, ...] = ()) -> Network:
    """A quorum formatted with --initial-controllers, and observers formatted without."""
    network = Network(seed)
    for id in ids:
        log = MemoryLog()
        log.store_snapshot(BOOTSTRAP_SNAPSHOT, snapshot(voter_set(*ids)))
        network.add(id, log)
    for id in observers:
        network.add(id)
    return network


def static_quorum(*ids: int, seed: int = 1) -> Network:
    """A quorum of kraft.version 0."""
    network = Network(seed)
    for id in ids:
        network.add(id, static_voters=static_voters(*ids), bootstrap_servers=())
    return network


def _port(host: Host) -> int:
    return host.config.endpoints.entries[0].port


def _through_bytes(request: Request) -> tuple[Request, int]:
    kind = type(request)
    version = max(kind.versions)
    return kind.decode(request.encode(version), version), version
