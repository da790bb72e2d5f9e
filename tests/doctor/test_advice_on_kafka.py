"""Advice that is executed: faults of real Kafka, ended by the steps that doctor prints for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwire.admin.partition_options import ElectionType
from kwire.admin.sync import AdminClient
from kwire.admin.topic_partition import TopicPartition
from kwire.admin.topics import NewTopic
from kwire.doctor.finding import GONE
from kwire.net.address import Address
from kwire.testing.local_kafka.node import KafkaVoter, KnownQuorum
from real_kafka import Layout, free_port
from tests.support.doctor.operator import Operator
from tests.support.real_kafka.own_cluster import OwnCluster

SHORT = {"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "500"}
NEW_DISK = "if its disk was lost"


def test_a_controller_that_lost_its_disk_and_one_that_is_gone(
    own_cluster: OwnCluster, tmp_path: Path
) -> None:
    with own_cluster(Layout(controllers=(3000, 3001, 3002))) as cluster:
        operator = Operator(cluster, tmp_path)
        operator.wait_for()  # until all have registered
        operator.lose_disk(3002)
        dead = ("quorum/voter-silent", "quorum/no-spare", "endpoints/nobody-answers")
        operator.wait_for(*dead, "nodes/unreachable")
        operator.follow("quorum/voter-silent", NEW_DISK)
        operator.wait_for()
        # The leader as well; here the operator has started it before asking.
        operator.lose_disk(3000)
        # Java's process ends if it is named as the leader of an epoch that it has forgotten.
        operator.wait_for(*dead, "nodes/unreachable")
        cluster.nodes[3000].start()
        operator.wait_with("voters/two-directories")
        operator.follow("voters/two-directories")
        operator.wait_for()
        # One that never comes back, and a new one in its place.
        cluster.nodes[3001].kill()
        operator.wait_for(*dead, "nodes/unreachable")
        operator.follow("nodes/unreachable", GONE)
        operator.follow("quorum/voter-silent", GONE)
        operator.wait_for("quorum/no-spare", "registrations/stale")
        operator.begin("quorum/no-spare")
        operator.wait_with("voters/observer-could-vote")
        operator.follow("voters/observer-could-vote")
        operator.wait_for("registrations/stale")
        # Nobody leads.
        for node_id in (3000, 3002):
            cluster.nodes[node_id].kill()
        operator.addresses = str(cluster.nodes[3003].controller_address)
        found = operator.wait_with("nodes/no-metadata")
        (id,) = {"quorum/no-leader", "quorum/leader-unreachable"} & set(found)
        operator.follow(id)


def test_a_broker_that_is_gone_for_good(own_cluster: OwnCluster, tmp_path: Path) -> None:
    """Its partitions of one replica lose their records; the moves off it would never end."""
    layout = Layout(controllers=(3000,), brokers=(1, 2), properties=SHORT)
    with own_cluster(layout) as cluster:
        operator = Operator(cluster, tmp_path)
        with AdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
            admin.create_topics([NewTopic(name="alone", assignments=[[2], [2]])])
            two = {"min.insync.replicas": "2"}
            admin.create_topics([NewTopic(name="two", assignments=[[2, 1]], configs=two)])
        cluster.nodes[2].kill()
        lost = ("partitions/no-leader", "partitions/under-min-isr", "partitions/under-replicated")
        operator.wait_for("brokers/fenced", *lost)
        operator.follow("brokers/fenced", GONE)
        assert operator.done[0] == "start 1 further broker"
        operator.wait_for()
        _a_move_that_never_ends(operator)


def _a_move_that_never_ends(operator: Operator) -> None:
    """Move [3] to [1] while 3 is down, and elect 1: it leads, and 3 is never removed."""
    cluster = operator.cluster
    with AdminClient(bootstrap_servers=str(cluster.nodes[1].broker_address)) as admin:
        admin.create_topics([NewTopic(name="stuck", assignments=[[3]])])
        cluster.nodes[3].kill()
        operator.wait_with("partitions/no-leader")
        stuck = TopicPartition("stuck", 0)
        admin.alter_partition_reassignments({stuck: [1]})
        admin.elect_leaders([stuck], election_type=ElectionType.UNCLEAN)
    found = operator.wait_with("partitions/move-stuck")
    assert found["partitions/move-stuck"].evidence == ("stuck-0 (all in sync)",)
    operator.follow("partitions/move-stuck")
    operator.follow("brokers/fenced", GONE)
    operator.wait_for()


@pytest.mark.nightly
def test_the_other_faults(own_cluster: OwnCluster, tmp_path: Path) -> None:
    """From one voter to three, to four and back; the fourth forgotten; one that finds nobody."""
    with own_cluster(Layout(controllers=(3000,), brokers=(1,), version="4.4.0")) as cluster:
        operator = Operator(cluster, tmp_path)
        operator.begin("quorum/one-voter")
        operator.wait_with("voters/observer-could-vote")
        operator.follow("quorum/one-voter")
        operator.wait_for()
        cluster.join_controller(3003)
        operator.wait_with("voters/observer-could-vote")
        operator.follow("voters/observer-could-vote")
        operator.follow("quorum/even-voters", "if one less is enough")
        operator.wait_with("voters/observer-could-vote")
        operator.follow("voters/observer-could-vote", "if it is not to vote")
        operator.wait_for("registrations/stale")
        at = f"--bootstrap-controller {operator.addresses}"
        lowered = operator.attempt(f"kwire features downgrade share.version=0 {at}")
        assert lowered.returncode == 0, lowered
        operator.wait_with("features/can-be-finalized")
        operator.follow("features/can-be-finalized", "when the upgrade")
        operator.follow("registrations/stale", GONE)
        operator.wait_for()
        _a_controller_finds_nobody(operator)


def _a_controller_finds_nobody(operator: Operator) -> None:
    cluster = operator.cluster
    node = cluster.add_node(3009)
    nowhere = KafkaVoter(
        node_id=3000,
        directory_id=cluster.nodes[3000].directory_id,
        address=Address("127.0.0.1", free_port()),
    )
    node.join(KnownQuorum(cluster_id=cluster.cluster_id, voters=(nowhere,)))
    node.start()
    operator.addresses += f",{node.controller_address}"
    found = operator.wait_with("quorum/empty-log")
    assert "nodes/refused" not in found  # it tells what it knows, though it has read no ACL
    operator.follow("quorum/empty-log")
    operator.wait_for("voters/observer-could-vote")


@pytest.mark.nightly
def test_static_lists_that_differ(own_cluster: OwnCluster, tmp_path: Path) -> None:
    with own_cluster(Layout.quorum(static=True)) as cluster:
        operator = Operator(cluster, tmp_path)
        node = cluster.nodes[3002]
        lists = dict(line.split("=", 1) for line in node.server_properties.splitlines())
        others = lists["controller.quorum.voters"].split(",")[1:]
        others.append(f"3009@localhost:{free_port()}")
        node.stop()
        node.configure({"controller.quorum.voters": ",".join(others)})
        node.start()
        operator.wait_with("voters/static-lists-differ")
        operator.follow("voters/static-lists-differ")
        operator.wait_for()
        found = operator.findings()
        assert found["voters/static"].fixes[0].commands == ("kwire quorum upgrade --plan",)


def test_no_advice_leads_a_static_quorum_of_3_9_into_a_dead_end(
    own_cluster: OwnCluster, tmp_path: Path
) -> None:
    """Raising kraft.version there reports success and leaves the voters static (KAFKA-18979)."""
    with own_cluster(Layout(controllers=(3000,), version="3.9.1", static=True)) as cluster:
        operator = Operator(cluster, tmp_path)
        found = operator.findings()
        commands = {step for item in found.values() for way in item.fixes for step in way.commands}
        assert commands == {"kwire quorum upgrade --plan"}
        at = f"--bootstrap-controller {operator.addresses}"
        refused = operator.attempt(f"kwire features upgrade kraft.version=1 {at}")
        assert refused.returncode == 1
        assert "leave them static (KAFKA-18979): kwire quorum upgrade --plan" in refused.stderr
