"""A real cluster of 3.9.1 moves from ZooKeeper to kwire's controllers, and back (KIP-866)."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from kwire.admin.sync import AdminClient
from kwire.admin.topics import NewTopic
from migrating.real_clusters.cluster import MigratingCluster
from migrating.real_clusters.driver_log import driver_states
from migrating.real_clusters.layout import MigratingLayout
from migrating.real_clusters.zookeeper_session import read_json, zookeeper_session
from real_kafka import Launcher
from tests.support.eventually import eventually_blocking

STATES = [
    "INACTIVE",
    "WAIT_FOR_CONTROLLER_QUORUM",
    "WAIT_FOR_BROKERS",
    "BECOME_CONTROLLER",
    "ZK_MIGRATION",
    "SYNC_KRAFT_TO_ZK",
    "KRAFT_CONTROLLER_TO_BROKER_COMM",
    "DUAL_WRITE",
]
"""The states that the driver of a controller of 3.9.1 enters, in its log."""


@pytest.fixture
def cluster(kafka: Launcher) -> Iterator[MigratingCluster]:
    """One broker of 3.9.1 in ZooKeeper mode with a topic, and a controller of kwire's beside."""
    with closing(MigratingCluster(MigratingLayout(kind="kwire"))) as cluster:
        cluster.start()
        create(cluster, "before")
        cluster.provision_controllers()
        cluster.enter_migration_mode()
        yield cluster


def create(cluster: MigratingCluster, name: str) -> None:
    with AdminClient(bootstrap_servers=cluster.bootstrap_servers, timeout=60) as admin:
        admin.create_topics([NewTopic(name=name, partitions=2, replication_factor=1)]).all()


def wait_for_topics(cluster: MigratingCluster, *names: str) -> None:
    """Wait until the broker has heard of all topics."""
    with AdminClient(bootstrap_servers=cluster.bootstrap_servers, timeout=60) as admin:
        eventually_blocking(
            lambda: sorted(map(str, admin.describe_topics().all())),
            lambda known: known == list(names),
        )


def znode(cluster: MigratingCluster, path: str) -> dict[str, object] | None:
    with zookeeper_session(cluster.zookeeper.connect) as client:
        return read_json(client, path)


@pytest.mark.nightly
def test_a_cluster_is_migrated_to_the_end(cluster: MigratingCluster) -> None:
    cluster.wait_for_dual_write()
    assert driver_states(cluster.controllers[3000].log(20_000)) == STATES
    controller = znode(cluster, "/controller") or {}
    assert (controller["brokerid"], controller["kraftControllerEpoch"]) == (3000, 1)

    create(cluster, "in-dual-write")
    cluster.wait_until_written_twice()
    topic = znode(cluster, "/brokers/topics/in-dual-write") or {}
    assert topic["partitions"] == {"0": [0], "1": [0]}

    cluster.migrate_brokers_to_kraft()
    cluster.finalize_migration()
    create(cluster, "after")
    wait_for_topics(cluster, "after", "before", "in-dual-write")
    assert znode(cluster, "/brokers/topics/after") is None


@pytest.mark.migrations
def test_a_cluster_goes_back_to_zookeeper(cluster: MigratingCluster) -> None:
    cluster.wait_for_dual_write()
    create(cluster, "in-dual-write")
    cluster.wait_until_written_twice()

    cluster.revert_to_zookeeper()
    controller = znode(cluster, "/controller") or {}
    assert (controller["brokerid"], controller["kraftControllerEpoch"]) == (0, -1)
    assert znode(cluster, "/migration") is None
    create(cluster, "after")
    wait_for_topics(cluster, "after", "before", "in-dual-write")
