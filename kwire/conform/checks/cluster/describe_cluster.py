"""DescribeCluster (KIP-700, KIP-919, KIP-1073; Java: KafkaApis, AuthHelper)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, scenario
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.needs import ServerRole
from kwire.conform.server import Server
from kwire.conform.source import kip, schema
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest

_UNSET = -(2**31)
_BROKERS, _CONTROLLERS = 1, 2
_TYPES = kip(919, "DescribeCluster")


async def _describe(server: Server, **fields: Any) -> Any:
    request = DescribeClusterRequest(**fields)
    if server.target.role is ServerRole.CONTROLLER:
        request.endpoint_type = _CONTROLLERS
    return await server.ask(request)


@scenario(
    "A broker names the brokers and the cluster id that Metadata has.",
    kip(700, "Public Interfaces"),
    role=ServerRole.BROKER,
)
async def _as_metadata(server: Server) -> None:
    answer = await _describe(server)
    expect_error(answer, 0)
    known = await server.ask(MetadataRequest(topics=[]))
    brokers = sorted((broker.broker_id, broker.host, broker.port) for broker in answer.brokers)
    expected = sorted((broker.node_id, broker.host, broker.port) for broker in known.brokers)
    expect_equal("brokers", brokers, expected)
    expect_equal("cluster id", answer.cluster_id, known.cluster_id)


@scenario(
    "A server answers with the type of endpoint that it was asked for.",
    schema("DescribeClusterResponse", "EndpointType"),
)
async def _same_type(server: Server) -> None:
    (await server.connection()).demand_since(DescribeClusterRequest, 1)
    answer = await _describe(server)
    is_controller = server.target.role is ServerRole.CONTROLLER
    expect_error(answer, 0)
    expect_equal("endpoint type", answer.endpoint_type, _CONTROLLERS if is_controller else _BROKERS)


@scenario("An endpoint type that does not exist gets UNSUPPORTED_ENDPOINT_TYPE.", _TYPES)
async def _unknown_type(server: Server) -> None:
    (await server.connection()).demand_since(DescribeClusterRequest, 1)
    answer = await server.ask(DescribeClusterRequest(endpoint_type=77))
    expect_error(answer, 115, 114)


@scenario(
    "A broker that is asked for controllers answers MISMATCHED_ENDPOINT_TYPE.",
    _TYPES,
    role=ServerRole.BROKER,
)
async def _controllers(server: Server) -> None:
    (await server.connection()).demand_since(DescribeClusterRequest, 1)
    expect_error(await server.ask(DescribeClusterRequest(endpoint_type=_CONTROLLERS)), 114)


@scenario(
    "A controller that is asked for brokers answers MISMATCHED_ENDPOINT_TYPE.",
    _TYPES,
    role=ServerRole.CONTROLLER,
)
async def _brokers(server: Server) -> None:
    (await server.connection()).demand_since(DescribeClusterRequest, 1)
    expect_error(await server.ask(DescribeClusterRequest(endpoint_type=_BROKERS)), 114)


@scenario("The cluster id is not empty, and the same in every answer.", kip(78, "Cluster Id"))
async def _cluster_id(server: Server) -> None:
    first, second = await _describe(server), await _describe(server)
    came = (first.cluster_id, second.cluster_id)
    expect(first.cluster_id and first.cluster_id == second.cluster_id, "one cluster id", came)


@scenario(
    "Authorized operations that were not asked for are -2147483648.",
    schema("DescribeClusterResponse", "ClusterAuthorizedOperations"),
)
async def _operations_unset(server: Server) -> None:
    answer = await _describe(server)
    expect_equal("operations", answer.cluster_authorized_operations, _UNSET)


@scenario(
    "Authorized operations that were asked for are bits of operations.",
    kip(700, "Public Interfaces"),
)
async def _operations(server: Server) -> None:
    answer = await _describe(server, include_cluster_authorized_operations=True)
    expect_error(answer, 0)
    operations = answer.cluster_authorized_operations
    expect(operations != _UNSET, "operations", operations)


@scenario(
    "The controller that is named is -1 or one of the nodes listed.",
    schema("DescribeClusterResponse"),
)
async def _controller(server: Server) -> None:
    answer = await _describe(server)
    nodes = {node.broker_id for node in answer.brokers}
    expect(answer.controller_id in {-1, *nodes}, f"a node of {sorted(nodes)}", answer.controller_id)


SECTION = CheckSection(
    "cluster/describe",
    "DescribeCluster",
    {
        1: _as_metadata,
        2: _same_type,
        3: _controllers,
        4: _brokers,
        5: _unknown_type,
        6: _cluster_id,
        7: _operations_unset,
        8: _operations,
        9: _controller,
    },
)
