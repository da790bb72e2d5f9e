"""Metrics are served under Kafka's names, and say what the controller says."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from kwire.controller.server.metrics import (
    LEADER_GAUGES,
    RAFT_GAUGES,
    SENSOR_GAUGES,
    STATES,
    NodesCollector,
    controller_gauges,
    prometheus_name,
)
from kwire.controller.server.request_metrics import codes
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    ResponsePartitionData,
    TopicData,
)
from kwire.net.connection import Connection
from kwire.net.metrics_server import MetricsServer
from kwire.testing.quorum import Quorum
from real_kafka import class_path
from tests.support.http import ask
from tests.support.metrics import class_file, has_constant, values
from tests.support.virtual_time import in_virtual_time

RAFT = "kafka_server_raft_metrics_"
CONTROLLER = "kafka_controller_kafkacontroller_"
REQUESTS = "kafka_network_requestmetrics_"
OURS = {"number-of-offline-voters", "IsObserver"}
"""KIP-853 names them and Kafka 4.3.1 does not have them."""


async def scrape(port: int) -> list[Metric]:
    status, body = await ask(port, "GET /metrics HTTP/1.1\r\nHost: here")
    assert status == "HTTP/1.1 200 OK"
    return list(text_string_to_metric_families(body))


@asynccontextmanager
async def served(size: int = 1) -> AsyncIterator[tuple[Quorum, int]]:
    async with Quorum(size, metered=True) as quorum:
        collector = NodesCollector(lambda: quorum.nodes.values())
        async with MetricsServer(collector, "127.0.0.1", 0) as server:
            yield quorum, server.port


async def at_one_time(
    connection: Connection, port: int
) -> tuple[ResponsePartitionData, dict[str, float]]:
    """Return a leader's DescribeQuorum and its metrics, with no write in between."""
    topic = TopicData(
        topic_name="__cluster_metadata", partitions=[PartitionData(partition_index=0)]
    )
    async with asyncio.timeout(60):
        while True:
            answer = await connection.send(DescribeQuorumRequest(topics=[topic]))
            metrics = values(await scrape(port), node_id="3000")
            again = await connection.send(DescribeQuorumRequest(topics=[topic]))
            assert isinstance(answer, DescribeQuorumResponse)
            assert isinstance(again, DescribeQuorumResponse)
            found, later = (described.topics[0].partitions[0] for described in (answer, again))
            if _ends(found) == _ends(later):
                return found, metrics


def _ends(partition: ResponsePartitionData) -> tuple[int, int]:
    return partition.high_watermark, partition.current_voters[0].log_end_offset


async def test_a_live_leader_serves_what_describe_quorum_answers() -> None:
    async with served() as (quorum, port):
        async with await Connection.open(*quorum.addresses[3000]) as connection:
            found, metrics = await at_one_time(connection, port)
        assert metrics[RAFT + "current_leader"] == found.leader_id
        assert metrics[RAFT + "current_epoch"] == found.leader_epoch
        assert metrics[RAFT + "high_watermark"] == found.high_watermark
        assert metrics[RAFT + "log_end_offset"] == found.current_voters[0].log_end_offset
        assert metrics[RAFT + "number_of_voters"] == len(found.current_voters)
        assert metrics[RAFT + "number_of_observers"] == len(found.observers)
        assert metrics[CONTROLLER + "activecontrollercount"] == 1
        assert metrics[CONTROLLER + "lastcommittedrecordoffset"] == found.high_watermark - 1


async def test_the_state_is_the_one_that_stands_at_1() -> None:
    async with served() as (_, port):
        families = await scrape(port)
        states = {s: values(families, state=s)[RAFT + "current_state"] for s in STATES}
        assert {state for state, value in states.items() if value} == {"leader"}


@in_virtual_time
async def test_a_quorum_that_just_elected_its_leader_has_latencies_and_rates() -> None:
    async with served(3) as (quorum, port):
        leader = await quorum.wait_for_leader()
        follower = next(id for id in quorum.nodes if id != leader)
        node = quorum.nodes[follower]
        await node.metadata.until(lambda: bool(node.metadata.image.features.levels))
        families = await scrape(port)
        metrics = values(families, node_id=str(leader))
        assert 0 <= metrics[RAFT + "commit_latency_avg"] <= metrics[RAFT + "commit_latency_max"]
        assert 0 <= metrics[RAFT + "election_latency_avg"] <= metrics[RAFT + "election_latency_max"]
        assert metrics[RAFT + "append_records_rate"] > 0
        assert metrics[RAFT + "fetch_records_rate"] == 0
        assert 0 <= metrics[RAFT + "poll_idle_ratio_avg"] <= 1
        metrics = values(families, node_id=str(follower))
        assert metrics[RAFT + "append_records_rate"] == 0
        assert metrics[RAFT + "fetch_records_rate"] > 0


async def test_requests_are_counted_with_every_error_code_of_their_answers() -> None:
    async with served() as (quorum, port):
        async with await Connection.open(*quorum.addresses[3000]) as connection:
            topic = CreatableTopic(name="orders", num_partitions=1, replication_factor=1)
            answer = await connection.send(CreateTopicsRequest(topics=[topic]))
        assert isinstance(answer, CreateTopicsResponse)
        families = await scrape(port)
        metrics = values(families, request="CreateTopics")
        assert metrics[REQUESTS + "requests_total"] == 1
        assert metrics[REQUESTS + "total_time_seconds_count"] == 1
        refused = values(families, request="CreateTopics", error="INVALID_REPLICATION_FACTOR")
        assert refused[REQUESTS + "errors_total"] == 1


def test_codes_are_those_of_every_topic() -> None:
    topics = [CreatableTopicResult(name=str(code), error_code=code) for code in (0, 36, 36)]
    assert list(codes(CreateTopicsResponse(topics=topics))) == [0, 36, 36]


@in_virtual_time
async def test_each_of_three_controllers_has_its_samples_in_the_same_families() -> None:
    async with served(3) as (_, port):
        families = await scrape(port)
        names = [family.name for family in families]
        assert len(names) == len(set(names))
        for node_id in ("3000", "3001", "3002"):
            assert values(families, node_id=node_id)[RAFT + "number_of_voters"] == 3
        samples = [s for family in families for s in family.samples]
        active = [s.value for s in samples if s.name == CONTROLLER + "activecontrollercount"]
        observed = [s for s in samples if s.name == RAFT + "number_of_observers"]
        assert (sum(active), len(observed)) == (1, 1)


@pytest.mark.java
async def test_every_name_is_one_of_kafkas() -> None:
    jars = {jar.name: jar for jar in class_path("4.3.1")}
    raft = class_file(jars["kafka-raft-4.3.1.jar"], "raft/internals/KafkaRaftMetrics")
    package = "controller/metrics"
    controller = b"".join(
        class_file(jars["kafka-metadata-4.3.1.jar"], f"{package}/{name}")
        for name in ("ControllerMetadataMetrics", "QuorumControllerMetrics")
    )
    names = {"current-state", "current-vote-directory-id", *RAFT_GAUGES, *LEADER_GAUGES, *STATES}
    names |= SENSOR_GAUGES.keys()
    assert [name for name in names - OURS if not has_constant(raft, name)] == []
    async with Quorum(1) as quorum:
        node = quorum.nodes[3000]
        gauges = controller_gauges(node, node.raft.metrics).keys()
    assert [name for name in gauges - OURS if not has_constant(controller, name)] == []


async def test_a_cluster_that_never_had_zookeeper_shows_nothing_of_a_migration() -> None:
    async with served() as (_, port):
        names = [family.name for family in await scrape(port)]
    assert not [name for name in names if "zk" in name]


def test_a_prometheus_name_is_kafkas_in_lower_case() -> None:
    group = "kafka.controller:type=KafkaController"
    name = prometheus_name(group, "ActiveControllerCount")
    assert name == "kafka_controller_kafkacontroller_activecontrollercount"
