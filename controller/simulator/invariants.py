"""What must hold after every event (Kafka's RaftEventSimulationTest, and more)."""

from __future__ import annotations

from collections.abc import Mapping

from controller.raft import (
    AppendLog,
    BecomeLeader,
    Commit,
    Effect,
    Event,
    InstallSnapshot,
    PersistElection,
    Reply,
    TruncateLog,
)
from controller.simulator.counter import Ledger
from controller.simulator.machine import Machine
from controller.simulator.network import Token
from controller.simulator.violation import Violation
from controller.simulator.voter_changes import SingleVoterChange
from kwire.apis.a01_fetch import FetchResponse


class Invariants:
    """Looks at a machine after each of its steps. The state of the others has not changed then.

    MonotonicEpoch: a node's epoch never falls, and quorum-state has it too.
    SingleLeader: an epoch has one leader, in everybody's quorum-state.
    MonotonicHighWatermark: the latest leader's high watermark never falls.
    MajorityReachedHighWatermark: a majority of the voters has it on its disks when it rises.
    SnapshotAtLogStart: a log begins where its earliest snapshot ends, which fits its epochs.
    LeaderNeverLoadSnapshot: a leader neither loads snapshots nor truncates.
    LeaderCompleteness: a new leader has everything that was ever committed.
    ConsistentCommittedData: what is committed is the same bytes everywhere (`Ledger`).
    FollowerHighWatermark: nobody is told a lower high watermark than it knew: Kafka's brokers
    end when they are.
    SingleVoterChange: see its class.

    trusts_disks: false where a disk loses what was committed; then the first and the fourth need
    not hold, as in Kafka's simulation.
    """

    def __init__(self, machines: Mapping[int, Machine], ledger: Ledger) -> None:
        self.trusts_disks = True
        self._machines, self._ledger = machines, ledger
        self._epochs: dict[int, int] = {}
        self._leaders: dict[int, int] = {}
        self._high_watermark = 0
        self._log_starts: dict[int, tuple[int, int]] = {}
        self._voter_change = SingleVoterChange()

    def forget(self, id: int) -> None:
        """A machine has got another disk, so another directory id: it is another replica."""
        self._epochs.pop(id, None)
        self._log_starts.pop(id, None)

    def check(self, machine: Machine, event: Event, effects: list[Effect]) -> None:
        """Raise a Violation where something does not hold."""
        self._check_epoch(machine)
        self._check_log_start(machine)
        self._voter_change.check(machine)
        if machine.running.role == "leader":
            self._check_leader(machine)
        for effect in effects:
            self._check_effect(machine, effect)

    def _check_epoch(self, machine: Machine) -> None:
        epoch, known = machine.running.epoch, self._epochs.get(machine.id, 0)
        self._epochs[machine.id] = epoch
        if not self.trusts_disks:
            return
        if epoch < known:
            raise Violation("MonotonicEpoch", f"{machine.name} goes from {known} to {epoch}")
        if machine.disk.persisted_epoch != epoch:
            text = f"{machine.name} is in {epoch}, quorum-state in {machine.disk.persisted_epoch}"
            raise Violation("MonotonicEpoch", text)

    def _claim(self, epoch: int, leader: int, witness: str) -> None:
        known = self._leaders.setdefault(epoch, leader)
        if known != leader:
            text = f"n{known} led epoch {epoch}, for {witness} n{leader} does"
            raise Violation("SingleLeader", text)

    def _check_leader(self, machine: Machine) -> None:
        raft = machine.running
        self._claim(raft.epoch, machine.id, machine.name)
        if raft.high_watermark is None or raft.epoch < max(self._leaders):
            return
        if raft.high_watermark < self._high_watermark:
            text = f"{machine.name} is at {raft.high_watermark} after {self._high_watermark}"
            raise Violation("MonotonicHighWatermark", text)
        if raft.high_watermark > self._high_watermark:
            self._high_watermark = raft.high_watermark
            self._check_majority(machine)

    def _check_majority(self, machine: Machine) -> None:
        voters, high_watermark = machine.running.voters, self._high_watermark
        machines = [self._machines[id] for id in sorted(voters.ids)]
        ends = {m.name: m.disk.flushed for m in machines if voters.contains(m.config.key)}
        reached = sum(1 for end in ends.values() if end >= high_watermark)
        if self.trusts_disks and reached < len(voters) // 2 + 1:
            text = f"{machine.name} has {high_watermark}, on the voters' disks are {ends}"
            raise Violation("MajorityReachedHighWatermark", text)

    def _check_log_start(self, machine: Machine) -> None:
        disk = machine.disk
        earliest = disk.earliest_snapshot()
        seen = (disk.start_offset, earliest.offset if earliest else 0)
        if self._log_starts.get(machine.id) == seen or earliest is None:
            return
        self._log_starts[machine.id] = seen
        ours, start = disk.end_of_epoch(earliest.epoch), disk.start_offset
        is_misplaced = start > earliest.offset or 0 < start != earliest.offset
        if is_misplaced or ours.epoch != earliest.epoch or ours.offset < earliest.offset:
            text = f"{machine.name} begins at {start}, its earliest snapshot is {earliest}"
            raise Violation("SnapshotAtLogStart", text)

    def _check_effect(self, machine: Machine, effect: Effect) -> None:
        match effect:
            case PersistElection(data=data) if data.leader_id >= 0:
                self._claim(data.leader_epoch, data.leader_id, machine.name)
            case InstallSnapshot() | TruncateLog() if machine.running.role == "leader":
                raise Violation("LeaderNeverLoadSnapshot", f"{machine.name} leads and {effect}")
            case BecomeLeader():
                self._check_completeness(machine)
            case Reply(token=Token() as token, response=FetchResponse() as response):
                self._check_told(machine, token, response)
            case Commit(high_watermark=high_watermark):
                if machine.state.applied.offset < high_watermark:
                    text = f"{machine.name} commits up to {high_watermark} without the records"
                    raise Violation("ConsistentCommittedData", text)
            case AppendLog(end_offset=end) if machine.disk.end.offset < end:
                raise Violation("ConsistentCommittedData", f"{machine.name} lost an append")

    def _check_completeness(self, machine: Machine) -> None:
        disk = machine.disk
        have = {base: data for base, _, _, data in disk.batches(0, disk.end.offset)}
        for base, (_, data) in self._ledger.batches.items():
            if base >= disk.start_offset and have.get(base) != data:
                text = f"{machine.name} leads {machine.running.epoch} without offset {base}"
                raise Violation("LeaderCompleteness", text)

    def _check_told(self, machine: Machine, token: Token, response: FetchResponse) -> None:
        target = self._machines[token.source]
        if target.raft is None or target.life != token.life or not response.responses:
            return
        (answer,) = response.responses[0].partitions
        is_partial = answer.error_code or answer.diverging_epoch or answer.snapshot_id
        if is_partial or answer.high_watermark < 0 or target.raft.epoch > machine.running.epoch:
            return
        if answer.high_watermark < target.high_watermark:
            text = f"{machine.name} tells {answer.high_watermark} to {target.name}, which was at"
            raise Violation("FollowerHighWatermark", f"{text} {target.high_watermark}")
