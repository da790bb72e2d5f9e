"""Harm that is done to a cluster again and again, until it is calmed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from controller.raft import UpgradeKRaftVersion
from controller.simulator.cluster import CLUSTER_ID, Cluster, endpoints
from controller.simulator.machine import Machine
from controller.simulator.network import FAIR, FOUL
from kwire.apis import a80_add_raft_voter as add
from kwire.apis.a80_add_raft_voter import AddRaftVoterRequest
from kwire.apis.a81_remove_raft_voter import RemoveRaftVoterRequest

DOWN_MS = 4000
"""A machine that failed is down for at most so long."""

CUT_MS = 6000
"""A cut lasts at most so long: twice the fetch timeout."""

PORTS = range(9094, 9099)


class Storm:
    """Each kind of harm is a method that does it once; `begin` repeats it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._random = cluster, cluster.random
        self._is_over = False

    def begin(self, harm: Callable[[], None], every_ms: int) -> None:
        """Do it about every so many milliseconds."""

        def unless_over() -> None:
            if not self._is_over:
                harm()

        self._cluster.scheduler.every(every_ms // 2, every_ms, unless_over)

    def foul_weather(self) -> None:
        """From now on messages are lost, doubled and late."""
        self._cluster.network.weather = FOUL

    def calm(self) -> None:
        """No more harm; everything is repaired and runs."""
        self._is_over = True
        cluster = self._cluster
        cluster.note("", "THE STORM IS OVER")
        cluster.network.weather = FAIR
        cluster.network.heal()
        for machine in cluster.running:
            machine.crash_after = None
        cluster.start_all()

    def crash(self) -> None:
        """One machine fails, now or between two of its next effects; it comes back later."""
        running = self._cluster.running
        if not running:
            return
        machine = self._random.choice(running)
        kind = self._random.randrange(4)
        if kind == 0:
            self._cluster.kill(machine.id)
        elif kind == 1:
            self._cluster.lose_power(machine.id)
        else:
            machine.crash_after = self._random.randrange(1, 12)
            self._cluster.note(machine.name, f"FAILS AFTER {machine.crash_after} EFFECTS")
        self._come_back(machine)

    def crash_all(self) -> None:
        """Everybody loses power at once."""
        for machine in self._cluster.running:
            self._cluster.lose_power(machine.id)
            self._come_back(machine)

    def _come_back(self, machine: Machine) -> None:
        def back() -> None:
            if machine.raft is None:
                self._cluster.start(machine.id)
            elif machine.crash_after is not None or machine.is_stopping:
                self._come_back(machine)

        self._cluster.scheduler.later(self._random.randrange(1, DOWN_MS), back)

    def shut_down(self) -> None:
        """One machine stops in order, and comes back."""
        running = [m for m in self._cluster.running if m.crash_after is None]
        if running:
            machine = self._random.choice(running)
            self._cluster.shut_down(machine.id)
            self._come_back(machine)

    def cut(self) -> None:
        """For a while nothing passes from one to another, though it does the other way."""
        ids = list(self._cluster.machines)
        source, target = self._random.choice(ids), self._random.choice(ids)
        self._cut_for_a_while({(source, target)})

    def isolate_inbound(self) -> None:
        """For a while nothing reaches one machine, or nothing leaves it."""
        one = self._random.choice(list(self._cluster.machines))
        others = [id for id in self._cluster.machines if id != one]
        pairs = {(other, one) for other in others}
        if self._random.random() < 0.5:
            pairs = {(one, other) for other in others}
        self._cut_for_a_while(pairs)

    def isolate_leader(self) -> None:
        """For a while the leader is cut off, with what it goes on to append."""
        leader = self._cluster.leader
        if leader:
            others = [id for id in self._cluster.machines if id != leader.id]
            pairs = [((leader.id, other), (other, leader.id)) for other in others]
            self._cut_for_a_while({pair for both in pairs for pair in both})

    def _cut_for_a_while(self, pairs: set[tuple[int, int]]) -> None:
        network = self._cluster.network
        network.cut |= pairs
        text = " ".join(f"n{source}->n{target}" for source, target in sorted(pairs))
        self._cluster.note("", f"CUT {text}")

        def mend() -> None:
            network.cut -= pairs
            self._cluster.note("", f"MENDED {text}")

        self._cluster.scheduler.later(self._random.randrange(1, CUT_MS), mend)

    def clock_jump(self) -> None:
        """One clock is set forward by up to a minute, or back by up to five seconds."""
        machine = self._random.choice(list(self._cluster.machines.values()))
        back = self._random.random() < 0.5
        jump = -self._random.randrange(5_000) if back else self._random.randrange(60_000)
        self._cluster.note(machine.name, f"ITS CLOCK JUMPS {jump} ms")
        machine.clock_jumps(jump)

    def change_voters(self) -> None:
        """Admins add or remove up to three nodes at once, where there is a leader."""
        leader = self._cluster.leader
        machines = list(self._cluster.machines.values())
        if leader is None:
            return
        voters = leader.running.voters
        if any(voters.needs_update(machine.config.voter) for machine in machines):
            return  # somebody has moved and not told the leader yet
        for _ in range(self._random.choice((1, 1, 2, 3))):
            if leader.raft:
                self._ask_for_change(leader, self._random.choice(machines))

    def _ask_for_change(self, leader: Machine, machine: Machine) -> None:
        voters, key = leader.running.voters, machine.config.key
        if voters.contains(key) and len(voters) > 1:
            request = RemoveRaftVoterRequest(
                cluster_id=CLUSTER_ID, voter_id=key.id, voter_directory_id=key.wire_directory_id
            )
            self._cluster.network.ask(leader, request)
        else:
            self._cluster.network.ask(leader, _addition(machine, self._random.random() < 0.5))

    def upgrade(self) -> None:
        """An admin wants kraft.version 1."""
        leader = self._cluster.leader
        if leader and not leader.running.kraft_version:
            epoch = leader.running.epoch
            leader.step(UpgradeKRaftVersion(token="upgrade", epoch=epoch, kraft_version=1))

    def move(self) -> None:
        """A machine restarts at another port, which its leader has to be told.

        One at a time, of three voters or more that agree on the voters and where they are: voters
        that moved while they had no leader do not find each other again (KIP-853).
        """
        if not self._is_settled():
            return
        machine = self._random.choice(self._cluster.running)
        self._cluster.kill(machine.id)
        port = self._random.choice(PORTS)
        machine.config = replace(machine.config, endpoints=endpoints(machine.id, port))
        self._cluster.note(machine.name, f"MOVES TO PORT {port}")
        self._come_back(machine)

    def _is_settled(self) -> bool:
        machines = list(self._cluster.machines.values())
        if any(machine.raft is None or machine.crash_after is not None for machine in machines):
            return False
        voters = machines[0].running.voters
        return len(voters) >= 3 and all(
            machine.running.voters == voters and not voters.needs_update(machine.config.voter)
            for machine in machines
        )


def _addition(machine: Machine, wait: bool) -> AddRaftVoterRequest:
    key = machine.config.key
    return AddRaftVoterRequest(
        cluster_id=CLUSTER_ID,
        timeout_ms=3000,
        voter_id=key.id,
        voter_directory_id=key.wire_directory_id,
        listeners=machine.config.endpoints.groups(add.Listener),
        ack_when_committed=wait,
    )
