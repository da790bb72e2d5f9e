"""Java's migration driver of 3.9.1 is stuck after a leader killed at one of two moments (KIP-866).

Each test has what Kafka's log says, what ZooKeeper lacks, what `kwire migration` tells of it, and
the way on. kwire's controllers go on at the same points: `test_killed_leaders.py`.
"""

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from kwire.admin.configs import ConfigChange
from kwire.admin.sync import AdminClient
from kwire.admin.topics import NewTopic
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.testing.local_kafka.errors import NodeFailed
from migrating.real_clusters.cluster import MigratingCluster
from migrating.real_clusters.crash_points import HALF_TOPIC, TOPIC, UNNOTED_COPY, arm
from migrating.real_clusters.driver_log import driver_states
from migrating.real_clusters.killed_leader import (
    SMALL_BATCHES,
    killed_at,
    make_topic,
    the_controller,
)
from migrating.real_clusters.layout import MigratingLayout
from migrating.real_clusters.operator_stage import OperatorStage
from migrating.real_clusters.workload import Workload
from migrating.real_clusters.zookeeper_relay import ZooKeeperRelay
from migrating.real_clusters.zookeeper_session import read_json, zookeeper_session
from real_kafka import Launcher

pytestmark = pytest.mark.migrations

UNTOLD = 60.0
"""Seconds after which a broker that no controller has told its metadata will not be told it."""

REFUSED = "KRaft controller indicates an active migration, but the ZK state does not."
"""KRaftMigrationDriver.WaitForControllerQuorumEvent, before it becomes INACTIVE."""

FAILED = "Encountered ZooKeeper error during event SyncKRaftMetadataEvent. Will retry."
"""KRaftMigrationDriver.MigrationEvent.handleException. It logs the cause of a
MigrationClientException only, and the one of updateTopicPartitions has none: Kafka does not tell
what failed."""

NO_STATE = f"Could not find partition state in ZK for {TOPIC}-0."
"""ZkTopicMigrationClient.iterateTopics: the only trace of the partition in the log."""

TIMES = 5
"""Failed synchronisations that are waited for; the pauses between them double."""

KEPT = ConfigResource(ResourceType.TOPIC, "kept")
CHANGED, DEFAULT = "4000000", "604800000"
"""retention.ms: as it was set while the driver was stuck, and as Kafka has it."""

EMPTY_STATE = b'{"version":1,"leader":-1,"leader_epoch":0,"controller_epoch":0,"isr":[]}'
"""As the advice of kwire's finding has it."""


@pytest.fixture
def cluster(kafka: Launcher) -> Iterator[MigratingCluster]:
    layout = MigratingLayout(kind="java", controller_properties=SMALL_BATCHES)
    with MigratingCluster(layout) as cluster:
        yield cluster


@pytest.fixture
def relay(cluster: MigratingCluster) -> Iterator[ZooKeeperRelay]:
    with ZooKeeperRelay(cluster.zookeeper.address) as relay:
        cluster.controllers_connect = str(relay.address)
        yield relay


def make_half_a_topic(cluster: MigratingCluster, relay: ZooKeeperRelay) -> None:
    """Kill the leader when ZooKeeper has the first znode of a new topic; return when it is stuck.

    That it stays so is the claim: several synchronisations fail, and none succeeds.
    """
    cluster.provision_controllers()
    cluster.enter_migration_mode()
    cluster.wait_for_dual_write()
    with killed_at(cluster, relay, HALF_TOPIC, arm(relay, HALF_TOPIC)):
        make_topic(cluster)
    cluster.wait_for_logged(FAILED, TIMES)
    assert NO_STATE in the_controller(cluster).log()
    assert list(cluster.driver_states()) == [HALF_TOPIC.stuck]
    with zookeeper_session(cluster.zookeeper.connect) as client:
        assert read_json(client, f"/brokers/topics/{TOPIC}") is not None
        assert client.exists(f"/brokers/topics/{TOPIC}/partitions") is None


def change_retention(cluster: MigratingCluster) -> None:
    """Change a configuration at the controller, which acknowledges it; ZooKeeper lacks it."""
    with AdminClient(bootstrap_controllers=cluster.bootstrap_controllers, timeout=60) as admin:
        change = ConfigChange(name="retention.ms", value=CHANGED)
        admin.incremental_alter_configs({KEPT: [change]}).all()
    with zookeeper_session(cluster.zookeeper.connect) as client:
        assert (read_json(client, "/config/topics/kept") or {})["config"] == {}


def wait_for_another_try(cluster: MigratingCluster) -> None:
    seen = the_controller(cluster).log(20_000).count(FAILED)
    cluster.wait_for_logged(FAILED, seen + 1)


def retention(cluster: MigratingCluster) -> str | None:
    """Return it, as soon as the brokers have been told of the topic again."""
    with AdminClient(cluster.bootstrap_servers, timeout=60) as admin:
        until = time.monotonic() + UNTOLD
        while "kept" not in {topic.name for topic in admin.list_topics()}:
            assert time.monotonic() < until, "the topic is not known"
            time.sleep(0.2)
        configs = admin.describe_configs([KEPT], names=["retention.ms"]).all()
    return configs[KEPT]["retention.ms"].value


def make_kept_topic(cluster: MigratingCluster) -> None:
    with AdminClient(cluster.bootstrap_servers, timeout=60) as admin:
        admin.create_topics([NewTopic(name="kept", partitions=1, replication_factor=1)]).all()


def test_half_a_topic_stops_dual_write_until_its_znodes_are_made_by_hand(
    cluster: MigratingCluster, relay: ZooKeeperRelay
) -> None:
    with Workload(cluster.bootstrap_servers) as workload:
        make_kept_topic(cluster)
        make_half_a_topic(cluster, relay)
        change_retention(cluster)
        wait_for_another_try(cluster)
        found = cluster.verify()
        assert found.returncode == 1
        assert "trap/partitions-missing" in found.stdout
        assert f"partition {TOPIC}-0" in found.stdout
        with zookeeper_session(cluster.zookeeper.connect) as client:
            path = f"/brokers/topics/{TOPIC}/partitions/0"
            client.create(f"{path}/state", EMPTY_STATE, makepath=True)
        cluster.wait_for_dual_write()
        cluster.wait_until_written_twice()
    assert retention(cluster) == CHANGED
    assert workload.check().records > 0
    verified = cluster.verify()
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_going_back_after_half_a_topic_loses_what_was_acknowledged_since_as_verify_says(
    cluster: MigratingCluster, relay: ZooKeeperRelay
) -> None:
    make_kept_topic(cluster)
    make_half_a_topic(cluster, relay)
    change_retention(cluster)
    wait_for_another_try(cluster)
    found = cluster.verify()
    assert "going back now would lose what was changed in 1 configuration" in found.stdout
    assert "- topic kept" in found.stdout
    assert "yes, but not now: ZooKeeper has not got the last " in cluster.status().stdout
    cluster.revert_to_zookeeper()
    assert retention(cluster) == DEFAULT


def test_a_copy_that_was_not_noted_in_zookeeper_leaves_only_the_way_back(
    cluster: MigratingCluster, relay: ZooKeeperRelay
) -> None:
    """Records are kept; what a controller acknowledged since the copy is lost, as status says."""
    make_kept_topic(cluster)
    with Workload(cluster.bootstrap_servers, administrates=False) as workload:
        stop = arm(relay, UNNOTED_COPY)
        cluster.provision_controllers()
        # A broker that was ZooKeeper's controller before the claim has told itself its metadata.
        with killed_at(cluster, relay, UNNOTED_COPY, stop), suppress(NodeFailed):
            cluster.enter_migration_mode(UNTOLD)
        cluster.stage = OperatorStage.BROKERS_IN_MIGRATION_MODE
        cluster.wait_for_logged(REFUSED, 1)
        before = driver_states(the_controller(cluster).log(20_000))
        assert before[-2:] == ["WAIT_FOR_CONTROLLER_QUORUM", UNNOTED_COPY.stuck]
        status = cluster.status()
        assert status.returncode == 1
        assert "the copy is in the metadata log, and /migration does not say so" in status.stdout
        assert "yes; what was changed since the copy is not in ZooKeeper" in status.stdout
        assert "before/ok" not in cluster.verify().stdout
        assert driver_states(the_controller(cluster).log(20_000)) == before
        change_retention(cluster)
        cluster.revert_to_zookeeper()
    assert retention(cluster) == DEFAULT
    assert workload.check().records > 0
