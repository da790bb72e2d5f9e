"""ApiVersions v5 names the node that the client wants to reach (KIP-1242)."""

from __future__ import annotations

from kwire.conform.check import Check, CheckSection, gets, scenario
from kwire.conform.expectation import answers, expect_error, judge
from kwire.conform.safe_requests import ABSENT_NODE
from kwire.conform.server import Server
from kwire.conform.target import Target
from kwire.conform.vocabulary import ServerRole, Skipped, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.negotiation import api_versions_request

SECTION = CheckSection(
    "versions/kip-1242", "ApiVersions names the node that the client wants to reach"
)

_REBOOTSTRAP = ErrorCode.REBOOTSTRAP_REQUIRED
_OTHER = "AAAAAAAAAAAAAAAAAAAAAQ"


def _node_of(target: Target) -> int:
    """Return the id of the node that is asked."""
    for node, address in target.nodes.items():
        if address == target.address:
            return node
    raise Skipped("the server tells no node id for its address")


def names_node(
    sentence: str,
    code: int,
    *,
    cluster: str | None = "",
    node: int | None = None,
    role: ServerRole = ServerRole.ANY,
) -> Check:
    """Return a check with one request. cluster, node: empty and None for those of the server."""

    async def run(server: Server) -> None:
        connection = await server.connection()
        connection.demand(ApiVersionsRequest, 5)
        request = api_versions_request()
        request.cluster_id = server.target.cluster_id if cluster == "" else cluster
        request.node_id = _node_of(server.target) if node is None else node
        judge(await connection.exchange(request, 5), answers(code, version=5))
        expect_error(await connection.ask(api_versions_request(), 0), ErrorCode.NONE)

    return scenario(gets(sentence, code), kip(1242, "ApiVersions"), role=role)(run)


SECTION[1] = names_node("A client that names its server is answered.", ErrorCode.NONE)
SECTION[2] = names_node(
    "A client that names neither cluster nor node is answered.",
    ErrorCode.NONE,
    cluster=None,
    node=-1,
)
SECTION[3] = names_node(
    "A broker of another cluster than the one named answers",
    _REBOOTSTRAP,
    cluster=_OTHER,
    role=ServerRole.BROKER,
)
SECTION[4] = names_node(
    "A broker other than the node named answers",
    _REBOOTSTRAP,
    node=ABSENT_NODE,
    role=ServerRole.BROKER,
)
SECTION[5] = names_node(
    "A client that names a cluster and no node gets", ErrorCode.INVALID_REQUEST, node=-1
)
SECTION[6] = names_node(
    "A client that names a node and no cluster gets", ErrorCode.INVALID_REQUEST, cluster=None
)
