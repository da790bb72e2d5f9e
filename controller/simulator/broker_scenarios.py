"""Brokers and admins at the controllers' own handlers, while leaders change (KIP-841)."""

from __future__ import annotations

from controller.simulator.admins import Admins
from controller.simulator.brokers import Brokers
from controller.simulator.cluster import Cluster
from controller.simulator.kafka_scenarios import Scenario
from controller.simulator.run import Run
from controller.simulator.storm import Storm
from kwire.image.partition import NO_LEADER

STORM_MS = 20_000
"""Virtual time: ten sessions of a broker."""


def fenced_and_stopping_brokers(run: Run) -> None:
    """Brokers hang, stop and restart, leaders ask for stale ISRs, and controllers are cut off."""
    cluster = run.make((1, 3), (0, 1), controllers=True)
    storm = Storm(cluster)
    storm.begin(storm.isolate_leader, 6000)
    storm.begin(storm.shut_down, 8000)
    _brokers_in(run, cluster, storm)


def brokers_in_a_storm(run: Run) -> None:
    """The same, while messages are lost and controllers fail, one by one and all at once."""
    cluster = run.make((3, 5), (0, 2), controllers=True)
    storm = Storm(cluster)
    storm.foul_weather()
    storm.begin(storm.crash, 2500)
    storm.begin(storm.isolate_leader, 5000)
    storm.begin(storm.cut, 2000)
    storm.begin(storm.crash_all, 15_000)
    _brokers_in(run, cluster, storm)


def _brokers_in(run: Run, cluster: Cluster, storm: Storm) -> None:
    brokers = Brokers(cluster, run.random.randint(1, 5))
    admins = Admins(cluster, brokers)
    storm.begin(admins.act, 200)
    storm.begin(brokers.kill, 1500)
    storm.begin(brokers.hang, 2000)
    storm.begin(brokers.stop, 1500)
    cluster.scheduler.run_for(STORM_MS)
    storm.calm()
    brokers.calm()
    cluster.scheduler.run_until(
        lambda: _all_are_well(cluster, brokers), "every broker is active, every partition is led"
    )
    run.progress(cluster)


def _all_are_well(cluster: Cluster, brokers: Brokers) -> bool:
    image = cluster.eligibility.image
    led = not image.topics.partitions(lambda partition: partition.leader == NO_LEADER)
    return led and all(image.cluster.is_active(broker.id) for broker in brokers.members)


BROKERS: dict[str, Scenario] = {
    "fencedAndStoppingBrokers": fenced_and_stopping_brokers,
    "brokersInAStorm": brokers_in_a_storm,
}
