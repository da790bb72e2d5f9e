"""DescribeCluster and its endpoint types, at brokers and at controllers (KIP-919, KIP-1073)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, exchange
from kwire.conform.expectation import Expectation, answers, expect, expect_equal, expect_error
from kwire.conform.quorum import KNOWN_CONTROLLERS, demand_metadata_version, describe_quorum
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, Skipped, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.address import Address
from kwire.net.quorum_request import quorum_request

SECTION = CheckSection("controllers/kip-919/endpoints", "DescribeCluster with its endpoint types")

_BROKERS, _CONTROLLERS, _OTHERS = 1, 2, 3
_TYPES = kip(919, "DescribeCluster Changes")


def _ask(endpoint_type: int, *, fenced: bool = False) -> DescribeClusterRequest:
    return DescribeClusterRequest(endpoint_type=endpoint_type, include_fenced_brokers=fenced)


def _has_type(expected: int) -> Expectation:
    def lacks(response: DescribeClusterResponse) -> str:
        if response.endpoint_type != expected:
            return f"endpoint type {response.endpoint_type}"
        return "" if response.brokers else "without a node"

    return answers(ErrorCode.NONE, text=f"with endpoint type {expected}", lacks=lacks)


async def _answer(
    server: Server, request: DescribeClusterRequest, version: int | None = None
) -> DescribeClusterResponse:
    """Ask; return the answer, whatever its error. Raises Skipped below 3.7-IV0 at a controller."""
    connection = await server.connection()
    connection.demand(DescribeClusterRequest, 1)
    if server.target.role is ServerRole.CONTROLLER:
        await demand_metadata_version(connection, KNOWN_CONTROLLERS)
    answer: DescribeClusterResponse = await connection.ask(request, version)
    return answer


async def _cluster(server: Server, request: DescribeClusterRequest) -> DescribeClusterResponse:
    answer = await _answer(server, request)
    expect_error(answer, ErrorCode.NONE)
    return answer


@SECTION.check(1, _TYPES, role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A controller that is asked for controllers lists them and names the type."""
    answer = await _cluster(server, _ask(_CONTROLLERS))
    expect_equal("endpoint type", answer.endpoint_type, _CONTROLLERS)
    expect(answer.brokers, "controllers", "none")


@SECTION.refuses(2, _TYPES, ErrorCode.MISMATCHED_ENDPOINT_TYPE, role=ServerRole.CONTROLLER)
async def _(server: Server) -> Any:
    """A controller that is asked for brokers answers"""
    return await _answer(server, _ask(_BROKERS))


@SECTION.refuses(3, _TYPES, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, role=ServerRole.CONTROLLER)
async def _(server: Server) -> Any:
    """A controller that is asked for an unknown type of endpoint answers"""
    return await _answer(server, _ask(_OTHERS))


@SECTION.refuses(
    4,
    kafka("AuthHelper.computeDescribeClusterResponse"),
    ErrorCode.INVALID_REQUEST,
    role=ServerRole.CONTROLLER,
)
async def _(server: Server) -> Any:
    """DescribeCluster v0, which knows no types of endpoints, at a controller gets"""
    return await _answer(server, DescribeClusterRequest(), 0)


SECTION[5] = exchange(
    "A broker that is asked for brokers lists them and names the type.",
    _TYPES,
    send=_ask(_BROKERS),
    since=1,
    expect=_has_type(_BROKERS),
    role=ServerRole.BROKER,
)
SECTION[6] = exchange(
    "A broker that is asked for controllers answers MISMATCHED_ENDPOINT_TYPE.",
    _TYPES,
    send=_ask(_CONTROLLERS),
    since=1,
    expect=answers(ErrorCode.MISMATCHED_ENDPOINT_TYPE),
    role=ServerRole.BROKER,
)
SECTION[7] = exchange(
    "A broker refuses unknown endpoint types.",
    _TYPES,
    send=_ask(_OTHERS),
    since=1,
    expect=answers(ErrorCode.UNSUPPORTED_ENDPOINT_TYPE),
    role=ServerRole.BROKER,
)


@SECTION.check(8, _TYPES, role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """The controller id is the active controller's, or -1 where it is not known."""
    active = (await describe_quorum(server)).leader_id
    answer = await _cluster(server, _ask(_CONTROLLERS))
    expect_equal("controller id", answer.controller_id, active, -1)


@SECTION.check(9, _TYPES, role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """Every controller that is listed answers at its address."""
    for node in (await _cluster(server, _ask(_CONTROLLERS))).brokers:
        address = server.target.nodes.get(node.broker_id, Address(node.host, node.port))
        answer = await (await server.new_connection(address)).ask(_ask(_CONTROLLERS))
        expect_error(answer, ErrorCode.NONE)


@SECTION.check(10, _TYPES, role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """The voters of the quorum are listed."""
    listed = {node.broker_id for node in (await _cluster(server, _ask(_CONTROLLERS))).brokers}
    voters = set((await describe_quorum(server)).voters)
    expect(voters <= listed, f"the voters {sorted(voters)}", sorted(listed))


@SECTION.check(11, _TYPES, role=ServerRole.CONTROLLER, needs=Need.TWO_VOTERS)
async def _(server: Server) -> None:
    """All controllers list the same controllers, with the same cluster id."""
    first = await _cluster(server, _ask(_CONTROLLERS))
    nodes = sorted((node.broker_id, node.host, node.port) for node in first.brokers)
    for node_id in server.target.nodes:
        answer = await (await server.node(node_id)).ask(_ask(_CONTROLLERS))
        expect_equal("cluster id", answer.cluster_id, first.cluster_id)
        came = sorted((node.broker_id, node.host, node.port) for node in answer.brokers)
        expect_equal("controllers", came, nodes)


@SECTION.check(12, kip(1073, "Public Interfaces"), role=ServerRole.BROKER)
async def _(server: Server) -> None:
    """Fenced brokers are listed only when they are asked for, and then marked."""
    (await server.connection()).demand(DescribeClusterRequest, 2)
    unfenced = await _cluster(server, _ask(_BROKERS))
    everyone = await _cluster(server, _ask(_BROKERS, fenced=True))
    expect(not any(n.is_fenced for n in unfenced.brokers), "no fenced broker", unfenced.brokers)
    if not any(node.is_fenced for node in everyone.brokers):
        raise Skipped("no broker is fenced")
    listed = {node.broker_id for node in everyone.brokers if not node.is_fenced}
    expect_equal("unfenced brokers", listed, {node.broker_id for node in unfenced.brokers})


@SECTION.check(
    13, schema("DescribeClusterRequest", "IncludeFencedBrokers"), role=ServerRole.CONTROLLER
)
async def _(server: Server) -> None:
    """A controller that is asked for fenced brokers refuses, or lists controllers only."""
    (await server.connection()).demand(DescribeClusterRequest, 2)
    answer = await _answer(server, _ask(_CONTROLLERS, fenced=True))
    refusals = (ErrorCode.INVALID_REQUEST, ErrorCode.MISMATCHED_ENDPOINT_TYPE)
    expect_error(answer, ErrorCode.NONE, *refusals)
    partition = (await describe_quorum(server)).partition
    replicas = [*partition.current_voters, *partition.observers]
    strange = {node.broker_id for node in answer.brokers} - {r.replica_id for r in replicas}
    expect(not strange, "controllers only", sorted(strange))


@SECTION.check(14, kip(853, "DescribeQuorum, Handling"), role=ServerRole.BROKER)
async def _(server: Server) -> None:
    """A broker describes the quorum, and forwards the request for it."""
    expect_error(await server.ask(quorum_request()), ErrorCode.NONE)
