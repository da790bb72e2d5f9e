"""Whole answers about the cluster, its topics and its coordinators."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.topics.creating import create, new_topic, some_broker
from kwire.conform.expectation import expect_error
from kwire.conform.quorum import describe_quorum
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, Skipped, schema
from kwire.conform.whole_answer import (
    A_TOPICS_OPERATIONS,
    BOTH,
    THE_CLUSTERS_OPERATIONS,
    expect_in_each_version,
    filled,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import (
    DescribeClusterRequest,
    DescribeTopicPartitionsRequest,
    FindCoordinatorRequest,
    MetadataRequest,
)
from kwire.messages.endpoint_type import EndpointType

SECTION = CheckSection("answers/metadata", "The cluster, its topics and its coordinators")

_NO_NODES = one_of(None, ())


def _replicas(server: Server) -> tuple[int, ...]:
    """Return the replicas of the topic: two where the cluster has so many brokers."""
    first = some_broker(server)
    return (first, *[node for node in sorted(server.target.nodes) if node != first][:1])


async def _created(server: Server) -> Any:
    """Create a topic of two partitions, each with the same replicas; return its part."""
    assigned = dict.fromkeys(BOTH, _replicas(server))
    topic = new_topic(server.name(), partitions=-1, replicas=-1, assignments=assigned)
    answer = await create(server, topic)
    expect_error(answer, ErrorCode.NONE)
    for partition in BOTH:
        await server.leader(topic.name, partition)
    return answer.topics[0]


def _partition(index: int, replicas: tuple[int, ...], **more: Any) -> dict[str, Any]:
    """Return a new partition, led by the first of its replicas. more: further fields."""
    own = {"replica_nodes": replicas, "isr_nodes": one_of(replicas, replicas[::-1])}
    return {"partition_index": index, "leader_id": replicas[0], "leader_epoch": 0, **own, **more}


async def _brokers(server: Server) -> Any:
    """Return the brokers as the other API names them, of which Metadata is to tell the same."""
    answer = await server.ask(DescribeClusterRequest())
    return answer.brokers


@SECTION.broker_check(1, schema("MetadataResponse"))
async def _(server: Server) -> None:
    """Metadata answers with brokers, cluster and a topic's partitions, in every version."""
    topic, replicas = await _created(server), _replicas(server)
    partitions = [_partition(index, replicas) for index in BOTH]
    nodes = await _brokers(server)
    brokers = [
        {"node_id": n.broker_id, "host": n.host, "port": n.port, "rack": n.rack} for n in nodes
    ]
    expected = {
        "brokers": brokers,
        "cluster_id": server.cluster_id(),
        "controller_id": one_of(*(n.broker_id for n in nodes)),
        "topics": [
            {
                "name": topic.name,
                "topic_id": topic.topic_id,
                "partitions": partitions,
                "topic_authorized_operations": A_TOPICS_OPERATIONS,
            }
        ],
        "cluster_authorized_operations": THE_CLUSTERS_OPERATIONS,
    }
    request = filled(
        MetadataRequest,
        topics=[{"name": topic.name}],
        include_cluster_authorized_operations=True,
        include_topic_authorized_operations=True,
    )
    await expect_in_each_version(await server.connection(), request, expected)


@SECTION.broker_check(2, schema("DescribeTopicPartitionsResponse"))
async def _(server: Server) -> None:
    """DescribeTopicPartitions answers with a topic's partitions and where the next page begins."""
    topic, replicas = await _created(server), _replicas(server)
    connection = await server.connection()
    for shown in (BOTH, BOTH[:1]):
        no_elr = {"eligible_leader_replicas": _NO_NODES, "last_known_elr": _NO_NODES}
        partitions = [_partition(index, replicas, **no_elr) for index in shown]
        described = {
            "name": topic.name,
            "topic_id": topic.topic_id,
            "partitions": partitions,
            "topic_authorized_operations": A_TOPICS_OPERATIONS,
        }
        following = {"topic_name": topic.name, "partition_index": 1}
        expected = {"topics": [described], "next_cursor": None if shown == BOTH else following}
        request = filled(
            DescribeTopicPartitionsRequest,
            topics=[{"name": topic.name}],
            response_partition_limit=len(shown),
        )
        await expect_in_each_version(connection, request, expected)


@SECTION.check(3, schema("DescribeClusterResponse"), role=ServerRole.BROKER)
async def _(server: Server) -> None:
    """DescribeCluster names the brokers that Metadata names, in every version."""
    metadata = await server.ask(MetadataRequest(topics=[]))
    brokers = [
        {"broker_id": b.node_id, "host": b.host, "port": b.port, "rack": b.rack}
        for b in metadata.brokers
    ]
    expected = {
        "cluster_id": metadata.cluster_id,
        "controller_id": one_of(*(b.node_id for b in metadata.brokers)),
        "brokers": brokers,
        "cluster_authorized_operations": THE_CLUSTERS_OPERATIONS,
    }
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    await expect_in_each_version(await server.connection(), request, expected)


@SECTION.check(4, schema("FindCoordinatorResponse"), role=ServerRole.BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """FindCoordinator answers a group's id with a broker that Metadata names, in every version."""
    group = server.name()
    await server.coordinator(group)
    brokers = {broker.broker_id: broker for broker in await _brokers(server)}
    node = one_of(*brokers)
    host = one_of(*(broker.host for broker in brokers.values()))
    port = one_of(*(broker.port for broker in brokers.values()))
    expected = {
        "node_id": node,
        "host": host,
        "port": port,
        "coordinators": [{"key": group, "node_id": node, "host": host, "port": port}],
    }
    request = FindCoordinatorRequest(key=group, coordinator_keys=(group,))
    await expect_in_each_version(await server.connection(), request, expected)


@SECTION.check(5, schema("DescribeClusterResponse"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A controller names the voters with their addresses, from v1 on."""
    connection = await server.connection()
    connection.demand(DescribeClusterRequest, EndpointType.CONTROLLER)
    quorum = await describe_quorum(server)
    if not all(quorum.listeners.get(voter) for voter in quorum.voters):
        raise Skipped("the quorum tells no addresses of its voters")
    brokers = [
        {
            "broker_id": voter,
            "host": quorum.listeners[voter][0].host,
            "port": quorum.listeners[voter][0].port,
        }
        for voter in quorum.voters
    ]
    expected = {
        "endpoint_type": EndpointType.CONTROLLER,
        "cluster_id": server.cluster_id(),
        "controller_id": quorum.leader_id,
        "brokers": brokers,
        "cluster_authorized_operations": THE_CLUSTERS_OPERATIONS,
    }
    request = DescribeClusterRequest(
        include_cluster_authorized_operations=True, endpoint_type=EndpointType.CONTROLLER
    )
    await expect_in_each_version(connection, request, expected, connection.ask, since=1)
