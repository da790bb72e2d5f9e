"""A controller is killed at each state of its migration driver; the migration goes on after it.

The next leader starts the copy anew where it was not done, and repairs what ZooKeeper lacks. Java's
does not after two of the points: `test_stuck_drivers.py`.
"""

from collections.abc import Iterator

import pytest

from migrating.real_clusters.cluster import MigratingCluster
from migrating.real_clusters.crash_points import CRASH_POINTS, TOPIC, CrashPoint, arm
from migrating.real_clusters.killed_leader import (
    SMALL_BATCHES,
    killed_at,
    make_topic,
    the_controller,
)
from migrating.real_clusters.layout import KINDS, ControllerKind, MigratingLayout
from migrating.real_clusters.workload import Workload
from migrating.real_clusters.zookeeper_relay import ZooKeeperRelay
from migrating.real_clusters.zookeeper_session import read_json, zookeeper_session
from real_kafka import Launcher

pytestmark = pytest.mark.migrations

GOING_ON = [
    pytest.param(kind, point, id=f"{kind}-{point}")
    for point in CRASH_POINTS
    for kind in KINDS
    if not (kind == "java" and point.stuck)
]


@pytest.fixture
def cluster(kafka: Launcher, kind: ControllerKind) -> Iterator[MigratingCluster]:
    layout = MigratingLayout(kind=kind, controller_properties=SMALL_BATCHES)
    with MigratingCluster(layout) as cluster:
        yield cluster


@pytest.fixture
def relay(cluster: MigratingCluster) -> Iterator[ZooKeeperRelay]:
    with ZooKeeperRelay(cluster.zookeeper.address) as relay:
        cluster.controllers_connect = str(relay.address)
        yield relay


def topic_in_zookeeper(cluster: MigratingCluster) -> bool:
    with zookeeper_session(cluster.zookeeper.connect) as client:
        return read_json(client, f"/brokers/topics/{TOPIC}") is not None


@pytest.mark.parametrize(("kind", "point"), GOING_ON)
def test_the_migration_goes_on_after_a_leader_that_was_killed_at_a_request(
    cluster: MigratingCluster, relay: ZooKeeperRelay, point: CrashPoint
) -> None:
    with Workload(cluster.bootstrap_servers) as workload:
        if point.in_dual_write:
            cluster.provision_controllers()
            cluster.enter_migration_mode()
            cluster.wait_for_dual_write()
            with killed_at(cluster, relay, point, arm(relay, point)):
                make_topic(cluster)
        else:
            stop = arm(relay, point)
            cluster.provision_controllers()
            with killed_at(cluster, relay, point, stop):
                cluster.enter_migration_mode()
        cluster.wait_for_dual_write()
        cluster.wait_until_written_twice()
        assert topic_in_zookeeper(cluster) == point.in_dual_write
    cluster.wait_until_told()  # of the last topic that is deleted, too
    assert workload.check().records > 0
    verified = cluster.verify()
    assert verified.returncode == 0, verified.stdout + verified.stderr


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state", ["WAIT_FOR_BROKERS", "KRAFT_CONTROLLER_TO_BROKER_COMM"])
def test_the_migration_goes_on_after_a_leader_that_was_killed_in_a_state(
    cluster: MigratingCluster, state: str
) -> None:
    with Workload(cluster.bootstrap_servers) as workload:
        cluster.provision_controllers()
        if state != "WAIT_FOR_BROKERS":
            cluster.enter_migration_mode()
        cluster.wait_until_driver_was_in(state)
        controller = the_controller(cluster)
        controller.kill()
        controller.start()
        if state == "WAIT_FOR_BROKERS":
            cluster.enter_migration_mode()
        cluster.wait_for_dual_write()
    cluster.wait_until_told()  # of the last topic that is deleted, too
    assert workload.check().records > 0
