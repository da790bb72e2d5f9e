"""`kwire migration verify` watches the migration of a cluster that has everything in it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from migrating.real_clusters.cluster import MigratingCluster
from migrating.real_clusters.golden_capture import change_topics
from migrating.real_clusters.layout import KINDS
from migrating.real_clusters.rich_content import RICH, load_rich_content
from migrating.real_clusters.zookeeper_session import zookeeper_session
from real_kafka import Launcher

pytestmark = pytest.mark.migrations

NOTHING_AGAINST_IT = "nothing stands against a copy"
SAME = "both sides hold the same"


@pytest.fixture(params=KINDS)
def cluster(kafka: Launcher, request: pytest.FixtureRequest) -> Iterator[MigratingCluster]:
    with MigratingCluster(replace(RICH, kind=request.param)) as cluster:
        load_rich_content(cluster)
        yield cluster


def verified(cluster: MigratingCluster, exit_code: int = 0) -> str:
    ran = cluster.verify()
    assert (ran.returncode, ran.stderr) == (exit_code, ""), ran.stdout + ran.stderr
    return ran.stdout


def test_a_migration_is_clean_at_each_stage_and_back(cluster: MigratingCluster) -> None:
    assert NOTHING_AGAINST_IT in verified(cluster)
    cluster.provision_controllers()
    assert NOTHING_AGAINST_IT in verified(cluster)
    cluster.enter_migration_mode()
    cluster.wait_for_dual_write()
    assert SAME in verified(cluster)
    change_topics(cluster.bootstrap_servers, "late")
    cluster.wait_until_written_twice()
    assert SAME in verified(cluster)
    cluster.migrate_brokers_to_kraft()
    assert SAME in verified(cluster)
    cluster.revert_to_zookeeper()
    assert NOTHING_AGAINST_IT in verified(cluster)


def test_a_change_behind_the_controllers_back_is_found(cluster: MigratingCluster) -> None:
    cluster.provision_controllers()
    cluster.enter_migration_mode()
    cluster.wait_for_dual_write()
    with zookeeper_session(cluster.zookeeper.connect) as client:
        client.set("/config/topics/orders", b'{"version":1,"config":{"retention.ms":"7"}}')
        client.delete("/config/ips/127.0.0.9")
    found = verified(cluster, exit_code=1)
    assert "orders" in found
    assert "127.0.0.9" in found
    assert SAME not in found
