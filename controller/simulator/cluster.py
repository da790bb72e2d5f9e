"""The machines of one simulation, and what scenarios ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random
from uuid import UUID

from controller.raft import (
    BOOTSTRAP_SNAPSHOT,
    Append,
    Config,
    Effect,
    Endpoint,
    Endpoints,
    Event,
    ReplicaKey,
    Voter,
    VoterSet,
)
from controller.simulator.counter import Counter, Ledger, bootstrap_snapshot
from controller.simulator.eligibility import Eligibility
from controller.simulator.invariants import Invariants
from controller.simulator.machine import Machine
from controller.simulator.metadata import Metadata
from controller.simulator.network import Network
from controller.simulator.scheduler import Scheduler
from controller.simulator.state_machine import StateMachine
from controller.simulator.trace import Trace
from kwire.batches import Record
from kwire.data.k_raft_version_record import KRaftVersionRecord
from kwire.negotiation import VersionRange

LISTENER = "CONTROLLER"
CLUSTER_ID = "simulated-cluster-id00"
FETCH_TIMEOUT_MS, REQUEST_TIMEOUT_MS, RETRY_MS, BACKOFF_MAX_MS = 3000, 3000, 100, 100
"""As in Kafka's simulation, the election timeout too, which is the default. Only retries are half
as frequent: most of what happens is nodes without a leader asking around for one."""

APPEND_EVERY_MS = 150


class Cluster:
    """Voters 1 to n, then observers.

    dynamic: kraft.version 1, the voters in the bootstrap snapshot; else static voters.
    bootstrap: every machine is a bootstrap server, even with static voters: where voters may change
    they have to be, since who votes no more must ask for new leaders.
    auto_join: controllers that do not vote add themselves.
    controllers: their state is metadata, which the controller's handlers write; else a counter.
    """

    def __init__(
        self,
        random: Random,
        voters: int,
        observers: int,
        *,
        dynamic: bool,
        bootstrap: bool = False,
        auto_join: bool = False,
        controllers: bool = False,
        traced: bool = False,
    ) -> None:
        self.random, self.dynamic = random, dynamic
        self._bootstrap = dynamic or bootstrap
        self.scheduler = Scheduler(random)
        self.machines: dict[int, Machine] = {}
        self.network = Network(self.scheduler, self.machines)
        self.ledger, self.eligibility = Ledger(), Eligibility()
        self.invariants = Invariants(self.machines, self.ledger)
        self.trace = Trace(lambda: self.scheduler.now) if traced else None
        if self.trace:
            self.network.note = self.trace.message
        self._voter_ids = tuple(range(1, voters + 1))
        self._ids = tuple(range(1, voters + observers + 1))
        self._appended = 0
        for id in self._ids:
            self._add(
                self._config(id, auto_join=auto_join),
                self._metadata if controllers else self._counter,
            )
        if not controllers:
            self.scheduler.every(APPEND_EVERY_MS, APPEND_EVERY_MS // 2, self._append)

    def _counter(self, machine: Machine) -> StateMachine:
        return Counter(machine.name, machine.disk, self.ledger)

    def _metadata(self, machine: Machine) -> StateMachine:
        return Metadata(machine, self.ledger, self.eligibility)

    def _config(self, id: int, *, auto_join: bool) -> Config:
        static = VoterSet() if self.dynamic else self._voters(dynamic=False)
        servers = [(f"b{other}", 9093) for other in self._ids] if self._bootstrap else []
        return Config(
            node_id=id,
            directory_id=directory(id),
            cluster_id=CLUSTER_ID,
            endpoints=endpoints(id),
            bootstrap_servers=tuple(servers),
            static_voters=static,
            auto_join=auto_join,
            fetch_timeout_ms=FETCH_TIMEOUT_MS,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            retry_backoff_ms=RETRY_MS,
            election_backoff_max_ms=BACKOFF_MAX_MS,
            fetch_max_bytes=self.random.choice((300, 5000, 1 << 20)),
            fetch_snapshot_max_bytes=self.random.choice((100, 1 << 20)),
        )

    def _voters(self, *, dynamic: bool) -> VoterSet:
        if not dynamic:
            return VoterSet.of(
                Voter(key=ReplicaKey(id=id), endpoints=endpoints(id)) for id in self._voter_ids
            )
        levels = VersionRange(0, 1)
        return VoterSet.of(
            Voter(
                key=ReplicaKey(id=id, directory_id=directory(id)),
                endpoints=endpoints(id),
                supported=levels,
            )
            for id in self._voter_ids
        )

    def _add(self, config: Config, make_state: Callable[[Machine], StateMachine]) -> None:
        machine = Machine(config, self.scheduler, make_state, self.network.transmit, self._stepped)
        if self.dynamic and machine.id in self._voter_ids:
            voters = self._voters(dynamic=True).to_record()
            level = KRaftVersionRecord(version=0, k_raft_version=1)
            data = bootstrap_snapshot([level, voters])
            machine.disk.store_snapshot(BOOTSTRAP_SNAPSHOT, data)
        self.machines[machine.id] = machine

    def _stepped(self, machine: Machine, event: Event, effects: list[Effect]) -> None:
        if self.trace:
            self.trace.step(machine, event, effects)
        self.invariants.check(machine, event, effects)

    def note(self, who: str, text: str) -> None:
        """A line for the trace, if there is one."""
        if self.trace:
            self.trace.say(who, text)

    def start_all(self) -> None:
        """Start every machine that is down."""
        for machine in self.machines.values():
            if machine.raft is None:
                self.start(machine.id)

    def start(self, id: int) -> None:
        """Start a machine."""
        self.note(f"n{id}", "STARTS")
        self.machines[id].start()

    def shut_down(self, id: int) -> None:
        """Stop a machine in order."""
        self.note(f"n{id}", "SHUTS DOWN")
        self.machines[id].shut_down()

    def kill(self, id: int) -> None:
        """End a machine's process."""
        self.note(f"n{id}", "IS KILLED")
        self.machines[id].kill()

    def lose_power(self, id: int) -> None:
        """End a machine; what was not flushed may be lost, or torn."""
        self.note(f"n{id}", "LOSES POWER")
        self.machines[id].lose_power()

    def replace_disk(self, id: int, *, directory_id: UUID | None = None) -> None:
        """A new disk for a machine that is down, formatted without voters."""
        machine = self.machines[id]
        self.note(machine.name, "GETS AN EMPTY DISK")
        machine.format()
        if directory_id:
            self.invariants.forget(id)
            machine.config = replace(machine.config, directory_id=directory_id)

    def _append(self) -> None:
        for machine in self.running:
            epoch = machine.writable_epoch
            if epoch is not None and machine.running.role == "leader":
                self._appended += 1
                records = (Record(value=self._appended.to_bytes(8)),)
                machine.step(Append(token="append", epoch=epoch, records=records))

    @property
    def running(self) -> list[Machine]:
        """The machines that are up."""
        return [machine for machine in self.machines.values() if machine.raft]

    @property
    def leader_id(self) -> int | None:
        """Who leads the greatest epoch that anybody is in, if anybody in it knows."""
        rafts = [machine.running for machine in self.running]
        latest = max((raft.epoch for raft in rafts), default=0)
        known = (raft.leader_id for raft in rafts if raft.epoch == latest)
        return next((id for id in known if id is not None), None)

    @property
    def leader(self) -> Machine | None:
        """The machine that leads the greatest epoch, if it is up."""
        machine = self.machines.get(self.leader_id or 0)
        return machine if machine and machine.raft and machine.raft.role == "leader" else None

    @property
    def has_consistent_leader(self) -> bool:
        """Whether all that run are in one epoch and know its leader."""
        seen = {(m.running.epoch, m.running.leader_id) for m in self.running}
        return len(seen) == 1 and None not in next(iter(seen))

    def high_watermark(self, ids: Iterable[int] | None = None) -> int:
        """The greatest one that anybody knows who runs."""
        chosen = set(self.machines if ids is None else ids)
        return max((m.high_watermark for m in self.running if m.id in chosen), default=0)

    def all_reached(self, offset: int, ids: Iterable[int] | None = None) -> bool:
        """Whether all that run have committed so far; all of `ids`, where they are given."""
        chosen = None if ids is None else set(ids)
        machines = [m for m in self.running if chosen is None or m.id in chosen]
        return bool(machines) and all(m.high_watermark >= offset for m in machines)

    @property
    def majority(self) -> int:
        """Of the voters that the cluster began with."""
        return len(self._voter_ids) // 2 + 1

    @property
    def end_offset(self) -> int:
        """Of the longest log."""
        return max((m.running.end_offset for m in self.running), default=0)


def directory(id: int, disk: int = 0) -> UUID:
    """The directory id of a machine's n-th disk."""
    return UUID(int=(id << 64) + (disk << 32) + 0xD1)


def endpoints(id: int, port: int = 9093) -> Endpoints:
    """Where a controller listens."""
    return Endpoints((Endpoint(name=LISTENER, host=f"c{id}", port=port),))
