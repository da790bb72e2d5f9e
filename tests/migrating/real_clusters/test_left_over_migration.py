"""A migration of a cluster whose /migration is left from an earlier one (KIP-866)."""

import json

import pytest
from kazoo.client import KazooClient

from kwire.admin.sync import AdminClient
from kwire.admin.topics import NewTopic
from migrating.real_clusters.cluster import MigratingCluster
from migrating.real_clusters.layout import ControllerKind, MigratingLayout
from migrating.real_clusters.zookeeper_session import zookeeper_session
from real_kafka import Launcher

LEFT_OVER = {
    "version": 0,
    "kraft_controller_id": 3000,
    "kraft_controller_epoch": 1,
    "kraft_metadata_offset": 5,
    "kraft_metadata_epoch": 1,
}
"""A copy up to a record that a new log has soon: two are written each second."""


@pytest.mark.migrations
@pytest.mark.parametrize(
    ("kind", "state", "topics"),
    [("java", "DUAL_WRITE", []), ("kwire", "WAIT_FOR_CONTROLLER_QUORUM", ["kept"])],
    ids=["java", "kwire"],
)
def test_kafka_deletes_every_topic_and_kwire_waits(
    kafka: Launcher, kind: ControllerKind, state: str, topics: list[str]
) -> None:
    with MigratingCluster(MigratingLayout(kind=kind)) as cluster:
        with AdminClient(cluster.bootstrap_servers, timeout=60) as admin:
            admin.create_topics([NewTopic(name="kept", assignments=[[0]])]).all()
        with zookeeper_session(cluster.zookeeper.connect) as client:
            client.create("/migration", json.dumps(LEFT_OVER).encode())
            cluster.provision_controllers()
            cluster.enter_migration_mode()
            cluster.wait_for_driver(state)
            assert client.get_children("/brokers/topics") == topics
            if kind == "kwire":
                _migrates_once_it_is_deleted(cluster, client)


def _migrates_once_it_is_deleted(cluster: MigratingCluster, client: KazooClient) -> None:
    client.delete("/migration")
    cluster.wait_for_dual_write()
    assert client.get_children("/brokers/topics") == ["kept"]
