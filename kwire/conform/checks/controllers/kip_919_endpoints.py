"""DescribeCluster and its endpoint types, at brokers and at controllers (KIP-919, KIP-1073)."""

from __future__ import annotations

from kwire.conform.check import CheckSection, exchange, scenario
from kwire.conform.expectation import Expectation, answers, expect, expect_equal, expect_error
from kwire.conform.needs import Need, ServerRole
from kwire.conform.quorum import describe_quorum
from kwire.conform.server import Server
from kwire.conform.source import kafka, kip, schema
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.address import Address
from kwire.net.quorum_request import quorum_request

_BROKERS, _CONTROLLERS, _OTHERS = 1, 2, 3
_TYPES = kip(919, "DescribeCluster")
_MISMATCHED, _UNSUPPORTED = 114, 115


def _ask(endpoint_type: int, *, fenced: bool = False) -> DescribeClusterRequest:
    return DescribeClusterRequest(endpoint_type=endpoint_type, include_fenced_brokers=fenced)


def _has_type(expected: int) -> Expectation:
    return answers(
        0,
        text=f"with endpoint type {expected}",
        where=lambda response: response.endpoint_type == expected and response.brokers,
    )


async def _cluster(server: Server, request: DescribeClusterRequest) -> DescribeClusterResponse:
    connection = await server.connection()
    connection.demand(DescribeClusterRequest, 1)
    answer: DescribeClusterResponse = await connection.ask(request)
    expect_error(answer, 0)
    return answer


@scenario(
    "The controller id is the active controller's, or -1 where it is not known.",
    _TYPES,
    role=ServerRole.CONTROLLER,
)
async def _active(server: Server) -> None:
    active = (await describe_quorum(server)).leader_id
    answer = await _cluster(server, _ask(_CONTROLLERS))
    expect_equal("controller id", answer.controller_id, active, -1)


@scenario(
    "Every controller that is listed answers at its address.",
    _TYPES,
    role=ServerRole.CONTROLLER,
)
async def _addresses(server: Server) -> None:
    for node in (await _cluster(server, _ask(_CONTROLLERS))).brokers:
        address = server.target.nodes.get(node.broker_id, Address(node.host, node.port))
        answer = await (await server.new_connection(address)).ask(_ask(_CONTROLLERS))
        expect_error(answer, 0)


@scenario(
    "The voters of the quorum are listed.",
    _TYPES,
    role=ServerRole.CONTROLLER,
)
async def _voters(server: Server) -> None:
    listed = {node.broker_id for node in (await _cluster(server, _ask(_CONTROLLERS))).brokers}
    voters = set((await describe_quorum(server)).voters)
    expect(voters <= listed, f"the voters {sorted(voters)}", sorted(listed))


@scenario(
    "All controllers list the same controllers, with the same cluster id.",
    _TYPES,
    role=ServerRole.CONTROLLER,
    needs=Need.TWO_VOTERS,
)
async def _same(server: Server) -> None:
    first = await _cluster(server, _ask(_CONTROLLERS))
    nodes = sorted((node.broker_id, node.host, node.port) for node in first.brokers)
    for node_id in server.target.nodes:
        answer = await (await server.node(node_id)).ask(_ask(_CONTROLLERS))
        expect_equal("cluster id", answer.cluster_id, first.cluster_id)
        came = sorted((node.broker_id, node.host, node.port) for node in answer.brokers)
        expect_equal("controllers", came, nodes)


@scenario(
    "Fenced brokers are listed only when they are asked for, and then marked.",
    kip(1073, "Public Interfaces"),
    role=ServerRole.BROKER,
)
async def _fenced(server: Server) -> None:
    (await server.connection()).demand(DescribeClusterRequest, 2)
    unfenced = await _cluster(server, _ask(_BROKERS))
    everyone = await _cluster(server, _ask(_BROKERS, fenced=True))
    expect(not any(n.is_fenced for n in unfenced.brokers), "no fenced broker", unfenced.brokers)
    listed = {node.broker_id for node in everyone.brokers if not node.is_fenced}
    expect_equal("unfenced brokers", listed, {node.broker_id for node in unfenced.brokers})


@scenario(
    "A broker describes the quorum, and forwards the request for it.",
    kip(919, "Overview"),
    role=ServerRole.BROKER,
)
async def _forwarded(server: Server) -> None:
    expect_error(await server.ask(quorum_request()), 0)


SECTION = CheckSection(
    "controllers/kip-919/endpoints",
    "DescribeCluster with its endpoint types",
    {
        1: exchange(
            "A controller that is asked for controllers lists them and names the type.",
            _TYPES,
            send=_ask(_CONTROLLERS),
            since=1,
            expect=_has_type(_CONTROLLERS),
            role=ServerRole.CONTROLLER,
        ),
        2: exchange(
            "A controller that is asked for brokers answers MISMATCHED_ENDPOINT_TYPE.",
            _TYPES,
            send=_ask(_BROKERS),
            since=1,
            expect=answers(_MISMATCHED),
            role=ServerRole.CONTROLLER,
        ),
        3: exchange(
            "A controller refuses unknown endpoint types.",
            _TYPES,
            send=_ask(_OTHERS),
            since=1,
            expect=answers(_UNSUPPORTED),
            role=ServerRole.CONTROLLER,
        ),
        4: exchange(
            "A controller refuses DescribeCluster v0, which knows no endpoint types.",
            kafka("ControllerApis.handleDescribeCluster"),
            send=DescribeClusterRequest(),
            expect=answers(42),
            differs=answers(_MISMATCHED),
            version=0,
            since=0,
            role=ServerRole.CONTROLLER,
        ),
        5: exchange(
            "A broker that is asked for brokers lists them and names the type.",
            _TYPES,
            send=_ask(_BROKERS),
            since=1,
            expect=_has_type(_BROKERS),
            role=ServerRole.BROKER,
        ),
        6: exchange(
            "A broker that is asked for controllers answers MISMATCHED_ENDPOINT_TYPE.",
            _TYPES,
            send=_ask(_CONTROLLERS),
            since=1,
            expect=answers(_MISMATCHED),
            role=ServerRole.BROKER,
        ),
        7: exchange(
            "A broker refuses unknown endpoint types.",
            _TYPES,
            send=_ask(_OTHERS),
            since=1,
            expect=answers(_UNSUPPORTED),
            role=ServerRole.BROKER,
        ),
        8: _active,
        9: _addresses,
        10: _voters,
        11: _same,
        12: _fenced,
        13: exchange(
            "A controller that is asked for fenced brokers refuses, or lists controllers only.",
            schema("DescribeClusterRequest", "IncludeFencedBrokers"),
            send=_ask(_CONTROLLERS, fenced=True),
            since=2,
            expect=answers(0) | answers(42) | answers(_MISMATCHED),
            role=ServerRole.CONTROLLER,
        ),
        14: _forwarded,
    },
)
