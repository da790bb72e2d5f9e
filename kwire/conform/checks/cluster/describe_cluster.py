"""DescribeCluster (KIP-700, KIP-919, KIP-1073; Java: KafkaApis, AuthHelper)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.expectation import expect, expect_equal, expect_error, expect_operations
from kwire.conform.quorum import KNOWN_CONTROLLERS, demand_metadata_version
from kwire.conform.server import Server
from kwire.conform.vocabulary import ServerRole, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a60_describe_cluster import DescribeClusterRequest

SECTION = CheckSection("cluster/describe", "DescribeCluster")

_UNSET = -(2**31)
_BROKERS, _CONTROLLERS = 1, 2


async def _describe(server: Server, **fields: Any) -> Any:
    request = DescribeClusterRequest(**fields)
    if server.target.role is ServerRole.CONTROLLER:
        request.endpoint_type = _CONTROLLERS
        await demand_metadata_version(await server.connection(), KNOWN_CONTROLLERS)
    return await server.ask(request)


@SECTION.check(2, schema("DescribeClusterResponse", "EndpointType"))
async def _(server: Server) -> None:
    """A server answers with the type of endpoint that it was asked for."""
    (await server.connection()).demand_since(DescribeClusterRequest, 1)
    answer = await _describe(server)
    is_controller = server.target.role is ServerRole.CONTROLLER
    expect_error(answer, ErrorCode.NONE)
    expect_equal("endpoint type", answer.endpoint_type, _CONTROLLERS if is_controller else _BROKERS)


@SECTION.check(6, kip(78, "Cluster Id"))
async def _(server: Server) -> None:
    """The cluster id is not empty, and the same in every answer."""
    first, second = await _describe(server), await _describe(server)
    came = (first.cluster_id, second.cluster_id)
    expect(first.cluster_id and first.cluster_id == second.cluster_id, "one cluster id", came)


@SECTION.check(7, schema("DescribeClusterResponse", "ClusterAuthorizedOperations"))
async def _(server: Server) -> None:
    """Authorized operations that were not asked for are -2147483648."""
    answer = await _describe(server)
    expect_equal("operations", answer.cluster_authorized_operations, _UNSET)


@SECTION.check(8, kip(430, "Public Interfaces"))
async def _(server: Server) -> None:
    """Authorized operations that were asked for are bits of operations."""
    answer = await _describe(server, include_cluster_authorized_operations=True)
    expect_error(answer, ErrorCode.NONE)
    expect_operations(answer.cluster_authorized_operations)


@SECTION.check(9, schema("DescribeClusterResponse", "ControllerId"))
async def _(server: Server) -> None:
    """The controller that is named is -1 or one of the nodes listed."""
    answer = await _describe(server)
    nodes = {node.broker_id for node in answer.brokers}
    expect(answer.controller_id in {-1, *nodes}, f"a node of {sorted(nodes)}", answer.controller_id)
