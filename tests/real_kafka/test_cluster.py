"""Clusters of real Kafka nodes start, answer, lose nodes and get them back, on either launcher."""

import logging
import re
import socket

import pytest

from kwire.testing.local_kafka import running
from kwire.testing.local_kafka.address import serves
from real_kafka import Address, Cluster, Layout, NodeFailed, ToolFailed, free_port
from real_kafka.metadata_quorum import (
    COMMAND,
    add_controller,
    current_voters,
    describe_status,
    remove_controller,
)
from tests.support.real_kafka.own_cluster import OwnCluster
from tests.support.real_kafka.own_names import OwnNames
from tests.support.real_kafka.tcp_relay import Relay

ALONE = Layout(controllers=(3000,))
"""The smallest quorum: one controller and no broker."""


def produced(cluster: Cluster, topic: str) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
    try:
        producer.send(topic, b"a record").get(timeout=60)
    finally:
        producer.close()


def consumed(cluster: Cluster, topic: str) -> bytes:
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        topic, bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest"
    )
    try:
        return bytes(next(consumer).value)
    finally:
        consumer.close()


@pytest.mark.both_launchers
def test_a_quorum_of_three_controllers_is_described_by_kafkas_own_tool(quorum: Cluster) -> None:
    assert current_voters(quorum) == {
        node_id: node.directory_id for node_id, node in quorum.controllers.items()
    }
    assert sorted(quorum.controllers) == [3000, 3001, 3002]
    assert (
        f'"id": 1, "directoryId": "{quorum.nodes[1].directory_id}"'
        in (describe_status(quorum)["CurrentObservers"])
    )


@pytest.mark.both_launchers(by_day=True)
def test_a_producer_and_a_consumer_of_this_host_reach_the_broker(
    quorum: Cluster, own_name: OwnNames
) -> None:
    topic = own_name("records", at=quorum.bootstrap_servers)
    produced(quorum, topic)
    assert consumed(quorum, topic) == b"a record"


@pytest.mark.both_launchers
def test_a_combined_node_is_its_own_quorum(combined: Cluster) -> None:
    assert current_voters(combined) == {1: combined.nodes[1].directory_id}
    assert combined.nodes[1].broker_address != combined.nodes[1].controller_address


@pytest.mark.both_launchers
def test_kafka_3_9_1_runs_and_takes_records(kafka391: Cluster, own_name: OwnNames) -> None:
    assert current_voters(kafka391) == {1: kafka391.nodes[1].directory_id}
    topic = own_name("records", at=kafka391.bootstrap_servers)
    produced(kafka391, topic)
    assert consumed(kafka391, topic) == b"a record"


@pytest.mark.both_launchers
def test_kafka_4_4_0_runs_and_takes_records(kafka440: Cluster, own_name: OwnNames) -> None:
    node = kafka440.nodes[1]
    assert current_voters(kafka440) == {1: node.directory_id}
    beside = ("--bootstrap-controller", node.quorum_bootstrap, "describe", "--status")
    assert re.search(r"LeaderId:\s+1\n", node.tool(COMMAND, *beside).stdout)
    topic = own_name("records", at=kafka440.bootstrap_servers)
    produced(kafka440, topic)
    assert consumed(kafka440, topic) == b"a record"


@pytest.mark.parametrize("version", ["4.3.1", pytest.param("3.9.1", marks=pytest.mark.releases)])
def test_a_static_quorum_has_voters_without_directory_ids(
    own_cluster: OwnCluster, version: str
) -> None:
    with own_cluster(Layout(controllers=(1, 2), version=version, static=True)) as cluster:
        assert current_voters(cluster) == {1: None, 2: None}


@pytest.mark.releases
def test_kafka_3_9_1_has_dynamic_quorums_too(own_cluster: OwnCluster) -> None:
    with own_cluster(Layout(controllers=(1, 2), version="3.9.1")) as cluster:
        assert current_voters(cluster) == {n: cluster.nodes[n].directory_id for n in (1, 2)}


@pytest.mark.both_launchers
def test_a_joining_controller_becomes_a_voter_and_stops_being_one(own_cluster: OwnCluster) -> None:
    with own_cluster(ALONE) as cluster:
        [first] = cluster.controllers.values()
        joined = cluster.join_controller(3005)
        assert current_voters(cluster) == {3000: first.directory_id}
        add_controller(joined)
        assert current_voters(cluster) == {3000: first.directory_id, 3005: joined.directory_id}
        remove_controller(cluster, 3005, joined.directory_id)
        assert current_voters(cluster) == {3000: first.directory_id}


@pytest.mark.both_launchers
def test_a_killed_node_comes_back_with_its_data(own_cluster: OwnCluster) -> None:
    quick = {"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "500"}
    layout = Layout(controllers=(1,), brokers=(1,), properties=quick)
    with own_cluster(layout) as cluster:
        [node] = cluster.nodes.values()
        produced(cluster, "t")
        directory_id = node.directory_id
        node.kill()
        assert not node.alive
        node.start()
        assert consumed(cluster, "t") == b"a record"
        node.restart()
        assert (node.directory_id, node.alive) == (directory_id, True)
        assert "shut down completed" in node.log(10_000)


def test_nodes_talk_to_a_controller_through_the_proxy_it_advertises(
    own_cluster: OwnCluster,
) -> None:
    cluster = own_cluster(Layout(controllers=(3000,), brokers=(1,)))
    controller = cluster.controllers[3000]
    with Relay(controller.address) as relay:
        controller.advertise(relay.address)
        cluster.start()
        assert relay.connections > 0
        assert f"CONTROLLER://{relay.address}" in describe_status(cluster)["CurrentVoters"]
        assert controller.address != relay.address
        cluster.close()


@pytest.mark.both_launchers
def test_a_node_that_dies_says_why(own_cluster: OwnCluster) -> None:
    with own_cluster(ALONE) as cluster:
        wrong = {"metadata.log.dir": "/dev/null/nowhere"}
        with pytest.raises(NodeFailed, match=r"(?s)3005.*(end of its log).*nowhere"):
            cluster.join_controller(3005, wrong)
        assert cluster.nodes[3000].alive


@pytest.mark.both_launchers
def test_a_node_whose_port_is_taken_says_so(own_cluster: OwnCluster) -> None:
    cluster = own_cluster(ALONE)
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", cluster.controllers[3000].address.port))
        squatter.listen()
        with pytest.raises(NodeFailed, match=r"(?i)address already in use"):
            cluster.start()


def test_a_node_that_is_late_is_given_up_with_its_log(own_cluster: OwnCluster) -> None:
    with pytest.raises(NodeFailed, match=r"did not answer on 127\.0\.0\.1:\d+ in 0 s"):
        own_cluster(ALONE).start(deadline=0)


def test_a_broker_starts_when_the_controllers_serve(
    own_cluster: OwnCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def serves_and_says_so(address: Address) -> bool:
        served = serves(address)
        logging.getLogger("real_kafka").info(f"served: {served}")
        return served

    caplog.set_level("INFO", "real_kafka")
    monkeypatch.setattr(running, "serves", serves_and_says_so)
    with own_cluster(Layout(controllers=(3000,), brokers=(1,))):
        assert caplog.messages.index("served: True") < caplog.messages.index("starting broker 1")


def test_extra_properties_and_jvm_flags_reach_the_node(own_cluster: OwnCluster) -> None:
    layout = Layout(
        controllers=(3000,),
        properties={"controller.quorum.fetch.timeout.ms": "3000"},
        node_properties={3000: {"controller.quorum.election.timeout.ms": "1500"}},
        jvm=("-Dorg.slf4j.simpleLogger.defaultLogLevel=info", "-showversion"),
    )
    with own_cluster(layout) as cluster:
        log = cluster.nodes[3000].log(2000)
    assert "controller.quorum.fetch.timeout.ms = 3000" in log
    assert "controller.quorum.election.timeout.ms = 1500" in log
    assert "Server VM" in log


def test_an_id_that_is_taken_cannot_join(combined: Cluster) -> None:
    with pytest.raises(ValueError, match="choose another id"):
        combined.join_controller(1)


def test_a_tool_that_takes_too_long_is_ended(combined: Cluster) -> None:
    nobody = str(Address("127.0.0.1", free_port()))
    with pytest.raises(ToolFailed, match=r"MetadataQuorumCommand did not end within 1 s"):
        combined.tool(COMMAND, "--bootstrap-server", nobody, "describe", "--status", timeout=1)


def test_a_tool_that_fails_is_an_error_with_what_it_said(combined: Cluster) -> None:
    with pytest.raises(ToolFailed, match=r"ended with 1: .*directory"):
        remove_controller(combined, 1, "not-a-directory-id")
