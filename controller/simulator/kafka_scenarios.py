"""The scenarios of Kafka's RaftEventSimulationTest, under their names there."""

from __future__ import annotations

from collections.abc import Callable

from controller.simulator.run import Run
from controller.simulator.violation import Violation

Scenario = Callable[[Run], None]


def initial_leader(run: Run) -> None:
    """A quorum elects its first leader, and everybody gets its records."""
    cluster = run.make((1, 5), (0, 5))
    run.warm_up(cluster)
    cluster.scheduler.run_until(lambda: cluster.all_reached(10), "all have 10 offsets")


def old_leader_failure(run: Run) -> None:
    """The leader ends, in order or not; another one leads on; it comes back and catches up."""
    cluster = run.make((3, 5), (0, 5))
    leader = run.warm_up(cluster)
    end = run.random.choice((cluster.shut_down, cluster.kill, cluster.lose_power))
    end(leader)
    run.progress(cluster, set(cluster.machines) - {leader})
    old = cluster.machines[leader]
    cluster.scheduler.run_until(lambda: old.raft is None, "the old leader has ended")
    cluster.start(leader)
    run.progress(cluster)


def all_nodes_killed(run: Run) -> None:
    """Everybody loses power; a majority comes back and gets on with what was committed."""
    cluster = run.make((1, 5), (0, 5))
    run.warm_up(cluster)
    for id in cluster.machines:
        cluster.lose_power(id)
    for id in range(1, cluster.majority + 1):
        cluster.start(id)
    run.progress(cluster)


def old_leader_partitioned_away(run: Run) -> None:
    """The leader is cut off; the others elect another one."""
    cluster = run.make((3, 5), (0, 5))
    leader = run.warm_up(cluster)
    cluster.network.isolate(leader)
    run.progress(cluster, set(cluster.machines) - {leader})


def majority_is_reachable(run: Run) -> None:
    """No request passes between two voters and the other three, until it does again."""
    cluster = run.make((5, 5), (0, 3))
    run.warm_up(cluster)
    few, many = (1, 2), (3, 4, 5)
    for one in few:
        for other in many:
            cluster.network.cut_requests |= {(one, other), (other, one)}
    target = 2 * cluster.end_offset
    until = cluster.scheduler.run_until
    until(lambda: cluster.high_watermark() > target, "somebody gets on")
    if cluster.high_watermark(many) <= cluster.high_watermark(few):
        raise Violation("Progress", "the minority got further than the majority")
    cluster.network.heal()
    run.progress(cluster, more=cluster.high_watermark())


def back_to_back_leader_failures(run: Run) -> None:
    """The leader is cut off, and as soon as there is another one, that one is instead."""
    cluster = run.make((3, 5), (0, 5))
    old = run.warm_up(cluster)
    cluster.network.isolate(old)
    until = cluster.scheduler.run_until
    until(lambda: cluster.leader_id not in (None, old), "another one leads")
    new = cluster.leader_id
    assert new is not None
    cluster.network.heal()
    cluster.network.isolate(new)
    target = cluster.high_watermark() + 10
    until(lambda: cluster.high_watermark() > target, "somebody gets on")


def single_node_committed_data_loss(run: Run) -> None:
    """A static voter loses its disk, but comes back only when the others have a leader."""
    cluster = run.make((3, 5), (0, 2), dynamic=False)
    cluster.invariants.trusts_disks = False
    until = cluster.scheduler.run_until
    until(lambda: cluster.high_watermark() > 10, "10 offsets are committed")
    lost = run.random.choice(list(cluster.machines))
    cluster.kill(lost)
    cluster.replace_disk(lost)
    until(
        lambda: cluster.leader_id != lost and cluster.has_consistent_leader,
        "the others have a leader",
    )
    cluster.start(lost)
    run.progress(cluster)


KAFKA: dict[str, Scenario] = {
    "canElectInitialLeader": initial_leader,
    "canElectNewLeaderAfterOldLeaderFailure": old_leader_failure,
    "canRecoverAfterAllNodesKilled": all_nodes_killed,
    "canElectNewLeaderAfterOldLeaderPartitionedAway": old_leader_partitioned_away,
    "canMakeProgressIfMajorityIsReachable": majority_is_reachable,
    "canMakeProgressAfterBackToBackLeaderFailures": back_to_back_leader_failures,
    "canRecoverFromSingleNodeCommittedDataLoss": single_node_committed_data_loss,
}
