"""A leader of three controllers ends or stands still; another goes on with the migration (KIP-866).

So does the leader when ZooKeeper itself stands still for longer than a session, or is killed. The
controllers are Java's and kwire's where a leader is killed, else kwire's.
"""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import pytest

from kwire.testing.local_kafka.running import RunningNode
from migrating.real_clusters.cluster import LOG_LINES, MigratingCluster
from migrating.real_clusters.crash_points import CRASH_POINTS, TOPIC, CrashPoint, arm, follow
from migrating.real_clusters.killed_leader import SMALL_BATCHES, make_topic
from migrating.real_clusters.layout import KINDS, ControllerKind, MigratingLayout
from migrating.real_clusters.workload import Workload
from migrating.real_clusters.zookeeper_relay import ZooKeeperRelay
from migrating.real_clusters.zookeeper_session import read_json, zookeeper_session
from real_kafka import Launcher

pytestmark = pytest.mark.migrations

IDLE = {"UNINITIALIZED", "INACTIVE"}
"""The states of the drivers of controllers that do not lead."""

STANDSTILL = 10.0
ZOOKEEPER_STANDSTILL = 25.0
"""Seconds. Kafka's sessions with ZooKeeper last 18, those of these clusters 6."""

NOT_THE_LEADER = "UNINITIALIZED"
"""In this state a request may be any controller's."""

KILLED_IN = [
    pytest.param(kind, point, id=f"{kind}-{point}")
    for kind in KINDS
    for point in CRASH_POINTS
    if point.state != NOT_THE_LEADER and not (kind == "java" and point.stuck)
]


@pytest.fixture
def kind() -> ControllerKind:
    return "kwire"


@pytest.fixture
def cluster(kafka: Launcher, kind: ControllerKind) -> Iterator[MigratingCluster]:
    layout = MigratingLayout(
        kind=kind, controllers=(3000, 3001, 3002), controller_properties=SMALL_BATCHES
    )
    with MigratingCluster(layout) as cluster:
        yield cluster


@pytest.fixture
def relay(cluster: MigratingCluster) -> Iterator[ZooKeeperRelay]:
    with ZooKeeperRelay(cluster.zookeeper.address) as relay:
        cluster.controllers_connect = str(relay.address)
        yield relay


def the_leader(cluster: MigratingCluster) -> RunningNode:
    """Return the only controller whose driver does something."""
    states = cluster.driver_states()
    [leader] = [node_id for state, node_id in states.items() if state not in IDLE]
    return cluster.controllers[leader]


def wait_for_dual_write_of_another(cluster: MigratingCluster, before: RunningNode) -> None:
    """Wait until one that is not ``before`` writes twice."""
    until = time.monotonic() + 300
    while cluster.driver_states(other_than=before.node_id).get("DUAL_WRITE") is None:
        assert time.monotonic() < until, "no other controller writes twice"
        time.sleep(0.1)


def wait_until_it_logs(node: RunningNode, text: str) -> None:
    until = time.monotonic() + 300
    while text not in (log := node.log(LOG_LINES)):
        assert time.monotonic() < until, log
        time.sleep(0.1)


def check(cluster: MigratingCluster, workload: Workload, *, has_topic: bool) -> None:
    """Nothing acknowledged is lost, and ZooKeeper has what the quorum has."""
    cluster.wait_until_told()
    assert workload.check().records > 0
    with zookeeper_session(cluster.zookeeper.connect) as client:
        assert (read_json(client, f"/brokers/topics/{TOPIC}") is not None) == has_topic
    verified = cluster.verify()
    assert verified.returncode == 0, verified.stdout + verified.stderr


def start_dual_write(cluster: MigratingCluster) -> None:
    cluster.provision_controllers()
    cluster.enter_migration_mode()
    cluster.wait_for_dual_write()


@pytest.mark.parametrize(("kind", "point"), KILLED_IN)
def test_another_controller_goes_on_after_a_leader_that_was_killed_at_a_request(
    cluster: MigratingCluster, relay: ZooKeeperRelay, point: CrashPoint
) -> None:
    with Workload(cluster.bootstrap_servers) as workload, ThreadPoolExecutor(1) as pool:
        if point.in_dual_write:
            start_dual_write(cluster)
            stop = arm(relay, point)
            work: Future[None] = pool.submit(make_topic, cluster)
        else:
            stop = arm(relay, point)
            cluster.provision_controllers()
            work = pool.submit(cluster.enter_migration_mode)
        follow(relay, point, stop)
        cluster.wait_until_unfenced()
        killed = the_leader(cluster)
        killed.kill()
        relay.cut()
        work.result()
        wait_for_dual_write_of_another(cluster, killed)
        killed.start()
    check(cluster, workload, has_topic=point.in_dual_write)


@pytest.mark.parametrize("kind", KINDS)
def test_another_controller_goes_on_after_a_leader_that_was_killed_before_brokers_came(
    cluster: MigratingCluster,
) -> None:
    with Workload(cluster.bootstrap_servers) as workload:
        cluster.provision_controllers()
        killed = cluster.wait_for_driver("WAIT_FOR_BROKERS")
        killed.kill()
        cluster.wait_for_driver("WAIT_FOR_BROKERS")
        cluster.enter_migration_mode()
        wait_for_dual_write_of_another(cluster, killed)
        killed.start()
    check(cluster, workload, has_topic=False)


@pytest.mark.parametrize("kind", KINDS)
def test_another_controller_goes_on_after_a_leader_that_was_killed_when_brokers_are_told(
    cluster: MigratingCluster,
) -> None:
    with Workload(cluster.bootstrap_servers) as workload, ThreadPoolExecutor(1) as pool:
        cluster.provision_controllers()
        work = pool.submit(cluster.enter_migration_mode)
        cluster.wait_until_driver_was_in("KRAFT_CONTROLLER_TO_BROKER_COMM")
        killed = the_leader(cluster)
        killed.kill()
        work.result()
        wait_for_dual_write_of_another(cluster, killed)
        killed.start()
    check(cluster, workload, has_topic=False)


BY_THE_FENCE = "Error in MetadataChangeEvent: /controller_epoch was changed since this controller's"
BY_THE_SESSION = "Encountered ZooKeeper error during MetadataChangeEvent"
"""Lines that a driver logs when a dual write is refused."""


@pytest.mark.parametrize(
    ("session_ms", "refused"),
    [
        pytest.param("60000", BY_THE_FENCE, id="its session lives"),
        pytest.param("6000", BY_THE_SESSION, id="its session has expired"),
    ],
)
def test_a_leader_that_stood_still_in_dual_write_writes_nothing_more(
    cluster: MigratingCluster, relay: ZooKeeperRelay, session_ms: str, refused: str
) -> None:
    """Its write is held until the next leader writes twice; then ZooKeeper refuses it.

    In a session that lives nothing but the fence does so: ZooKeeper answers the multi, and says
    that /controller_epoch has another version. In one that has expired it answers nothing.
    """
    session = {"zookeeper.session.timeout.ms": session_ms}
    cluster.layout = replace(cluster.layout, controller_properties={**SMALL_BATCHES, **session})
    with Workload(cluster.bootstrap_servers) as workload, ThreadPoolExecutor(1) as pool:
        start_dual_write(cluster)
        stop = relay.stop_before(TOPIC.encode())
        work = pool.submit(make_topic, cluster)
        stop.wait()
        stopped = the_leader(cluster)
        stopped.suspend()
        wait_for_dual_write_of_another(cluster, stopped)
        time.sleep(STANDSTILL)
        stop.release()
        stopped.resume()
        work.result()
        wait_until_it_logs(stopped, refused)
    check(cluster, workload, has_topic=True)


@pytest.mark.parametrize("killed", [False, True], ids=["stands still", "killed"])
def test_dual_write_goes_on_after_zookeeper_was_away(
    cluster: MigratingCluster, killed: bool
) -> None:
    with Workload(cluster.bootstrap_servers) as workload, ThreadPoolExecutor(1) as pool:
        start_dual_write(cluster)
        cluster.zookeeper.kill() if killed else cluster.zookeeper.suspend()
        work = pool.submit(make_topic, cluster)
        time.sleep(1 if killed else ZOOKEEPER_STANDSTILL)
        cluster.zookeeper.start() if killed else cluster.zookeeper.resume()
        work.result()
        cluster.wait_for_dual_write()
    check(cluster, workload, has_topic=True)
