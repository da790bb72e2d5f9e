"""The project's own scenarios: harm for a while, then calm, in which everybody must get on."""

from __future__ import annotations

from controller.simulator.cluster import Cluster, directory
from controller.simulator.kafka_scenarios import Scenario
from controller.simulator.machine import Machine
from controller.simulator.run import Run
from controller.simulator.storm import Storm
from controller.simulator.violation import Violation
from kwire.errors import FileError

STORM_MS = 12_000
"""Virtual time: four fetch timeouts, twelve election timeouts."""

LONG_STORM_MS = 30_000
"""Where messages get lost: each loss stops a replica for a request timeout."""


def _weather(run: Run, cluster: Cluster, storm: Storm, duration_ms: int = STORM_MS) -> None:
    cluster.scheduler.run_for(duration_ms)
    storm.calm()
    run.progress(cluster)


def lossy_network(run: Run) -> None:
    """5 % of the messages are lost, 3 % come twice, 3 % are overtaken by others."""
    cluster = run.make((1, 5), (0, 2))
    storm = Storm(cluster)
    storm.foul_weather()
    _weather(run, cluster, storm, LONG_STORM_MS)


def one_way_partitions(run: Run) -> None:
    """Messages pass from one to another and not back, or reach nobody, or come from nobody."""
    cluster = run.make((2, 5), (0, 2))
    storm = Storm(cluster)
    storm.begin(storm.cut, 500)
    storm.begin(storm.isolate_leader, 4000)
    storm.begin(storm.isolate_inbound, 3000)
    _weather(run, cluster, storm)


def crashes(run: Run) -> None:
    """Machines end at any moment, with and without what was not flushed; batches are torn."""
    cluster = run.make((1, 5), (0, 2))
    storm = Storm(cluster)
    storm.begin(storm.crash, 700)
    storm.begin(storm.shut_down, 4000)
    storm.begin(storm.crash_all, 8000)
    _weather(run, cluster, storm)


def clock_jumps(run: Run) -> None:
    """Clocks are set forward and back."""
    cluster = run.make((1, 5), (0, 2))
    storm = Storm(cluster)
    storm.begin(storm.clock_jump, 600)
    _weather(run, cluster, storm)


def lost_quorum_state(run: Run) -> None:
    """quorum-state is missing or garbled after a crash, over and over, one node at a time.

    A garbled file keeps the node from starting; somebody removes it. Without its vote a node may
    come back only when the others have a leader: that is the harm that KRaft withstands.
    """
    cluster = run.make((3, 5), (0, 2))
    cluster.invariants.trusts_disks = False
    run.warm_up(cluster)
    for _ in range(3):
        lost = cluster.machines[run.random.choice(list(cluster.machines))]
        cluster.lose_power(lost.id)
        _lose_quorum_state(run, cluster, lost)
        _until_others_lead(cluster, lost.id)
        cluster.start(lost.id)
        run.progress(cluster)


def _until_others_lead(cluster: Cluster, lost: int) -> None:
    cluster.scheduler.run_until(
        lambda: cluster.leader_id != lost and cluster.has_consistent_leader,
        "the others have a leader",
    )


def _lose_quorum_state(run: Run, cluster: Cluster, machine: Machine) -> None:
    if run.random.random() < 0.5:
        machine.disk.garble_quorum_state(run.random)
        try:
            machine.start()
        except FileError as refusal:
            cluster.note(machine.name, f"DOES NOT START: {refusal}")
        else:
            raise Violation("GarbledQuorumState", f"{machine.name} starts on half a file")
    machine.disk.quorum_state = None


def changing_voters(run: Run) -> None:
    """Voters are added, removed and moved to other ports, while messages get lost."""
    cluster = run.make((1, 5), (1, 3), dynamic=True)
    storm = Storm(cluster)
    storm.foul_weather()
    storm.begin(storm.change_voters, 400)
    storm.begin(storm.move, 4000)
    _weather(run, cluster, storm, LONG_STORM_MS)


def changing_voters_in_crashes(run: Run) -> None:
    """Voters are added and removed while machines fail and links are cut."""
    cluster = run.make((1, 5), (1, 3), dynamic=True)
    storm = Storm(cluster)
    storm.begin(storm.change_voters, 300)
    storm.begin(storm.isolate_leader, 3000)
    storm.begin(storm.crash, 1500)
    storm.begin(storm.cut, 1000)
    _weather(run, cluster, storm)


def kraft_version_upgrade(run: Run) -> None:
    """Static voters become dynamic ones while machines fail; then voters come and go."""
    cluster = run.make((1, 5), (0, 2), dynamic=False, bootstrap=True)
    storm = Storm(cluster)
    storm.begin(storm.upgrade, 1000)
    storm.begin(storm.change_voters, 800)
    storm.begin(storm.crash, 8000)
    storm.begin(storm.isolate_leader, 12_000)
    cluster.scheduler.run_until(
        lambda: any(m.running.kraft_version for m in cluster.running),
        "somebody knows kraft.version 1",
    )
    _weather(run, cluster, storm)


def replaced_disks(run: Run) -> None:
    """A voter gets another disk, so another directory id: it removes its old self and joins."""
    cluster = run.make((3, 5), (0, 1), dynamic=True, auto_join=True)
    run.warm_up(cluster)
    lost = run.random.choice(sorted(cluster.machines))
    cluster.lose_power(lost)
    cluster.replace_disk(lost, directory_id=directory(lost, disk=1))
    cluster.scheduler.run_for(run.random.randrange(5_000))
    cluster.start(lost)
    machine = cluster.machines[lost]
    cluster.scheduler.run_until(
        lambda: machine.running.is_voter and machine.high_watermark > 10,
        "the new directory votes",
    )
    run.progress(cluster)


def everything(run: Run) -> None:
    """All of it at once."""
    cluster = run.make((1, 5), (0, 3), dynamic=True, auto_join=run.random.random() < 0.3)
    storm = Storm(cluster)
    storm.foul_weather()
    storm.begin(storm.change_voters, 700)
    storm.begin(storm.crash, 2000)
    storm.begin(storm.cut, 1500)
    storm.begin(storm.isolate_inbound, 5000)
    storm.begin(storm.isolate_leader, 5000)
    storm.begin(storm.clock_jump, 2500)
    storm.begin(storm.move, 6000)
    storm.begin(storm.crash_all, 20_000)
    _weather(run, cluster, storm, LONG_STORM_MS)


STORMS: dict[str, Scenario] = {
    "lossyNetwork": lossy_network,
    "oneWayPartitions": one_way_partitions,
    "crashes": crashes,
    "clockJumps": clock_jumps,
    "lostQuorumState": lost_quorum_state,
    "changingVoters": changing_voters,
    "changingVotersInCrashes": changing_voters_in_crashes,
    "kraftVersionUpgrade": kraft_version_upgrade,
    "replacedDisks": replaced_disks,
    "everything": everything,
}
