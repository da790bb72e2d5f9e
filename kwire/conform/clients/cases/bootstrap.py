"""The way to a cluster, also once more when all is lost (KIP-899, KIP-919, KIP-1102)."""

from __future__ import annotations

from kwire.conform.clients.case import ClientSection, ClientTask
from kwire.conform.clients.cluster import NODES, Cluster
from kwire.conform.clients.judges import demand_recovery
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import ScriptRule, changed, gives, once, silence
from kwire.conform.expectation import expect
from kwire.conform.vocabulary import ServerRole, Skipped, kip
from kwire.error_codes import ErrorCode
from kwire.messages import ApiVersionsRequest, DescribeClusterRequest, MetadataRequest
from kwire.messages.a03_metadata import MetadataResponse

SECTION = ClientSection("client/bootstrap", "The way to a cluster, also when all is lost")

_NOWHERE = 1
"""A port at which nobody listens."""
_CONTROLLERS = 2
"""The endpoint type of controllers."""
_KIP = kip(919, "Public Interfaces")


def _gone(answer: MetadataResponse) -> None:
    for broker in answer.brokers:
        broker.port = _NOWHERE


@SECTION.case(
    1,
    kip(899, "Proposed Changes"),
    ClientTask.PRODUCE,
    may_fail=True,
    rules=once(MetadataRequest, changed(_gone)),
)
def _(play: Play) -> None:
    "A client that reaches none of the brokers it knows asks at the bootstrap servers again."
    demand_recovery(play, "brokers that nobody can reach")


def _lost(answer: MetadataResponse) -> None:
    answer.error_code = ErrorCode.REBOOTSTRAP_REQUIRED
    answer.brokers, answer.topics = [], []


def _lost_here() -> list[ScriptRule]:
    """Give REBOOTSTRAP_REQUIRED until the client connects once more."""
    connected = ScriptRule(api=ApiVersionsRequest, action=silence(), times=0, is_aid=True)
    lost = ScriptRule(
        api=MetadataRequest, action=changed(_lost), times=None, when=lambda body: connected.seen < 2
    )
    return [connected, lost]


@SECTION.case(2, kip(1102, "Proposed Changes"), ClientTask.PRODUCE, may_fail=True, rules=_lost_here)
def _(play: Play) -> None:
    "After REBOOTSTRAP_REQUIRED a client connects to the bootstrap servers again."
    refused = play.scripted(MetadataRequest)[0]
    if refused.version < 13:
        raise Skipped("the client has no Metadata v13")
    again = [r for r in play.after(refused, MetadataRequest) if r.node_id == NODES[0]]
    expect(again, "Metadata at the bootstrap server", "none")
    expect(again[0].connection != refused.connection, "a new connection", "the same one")
    demand_recovery(play, "REBOOTSTRAP_REQUIRED")


@SECTION.case(3, _KIP, ClientTask.CONTROLLERS)
def _(play: Play) -> None:
    "A client at controllers asks for the endpoint type of controllers."
    types = {r.body.endpoint_type for r in play.sent(DescribeClusterRequest) if r.version >= 1}
    if not types:
        raise Skipped("the client sent no DescribeCluster v1")
    expect(types == {_CONTROLLERS}, f"endpoint type {_CONTROLLERS}", types)


@SECTION.case(
    4,
    _KIP,
    ClientTask.CONTROLLERS,
    may_fail=True,
    rules=once(
        DescribeClusterRequest, gives(ErrorCode.MISMATCHED_ENDPOINT_TYPE, "top"), times=None
    ),
)
def _(play: Play) -> None:
    "A client does not take an answer with MISMATCHED_ENDPOINT_TYPE for the cluster."
    if not any(request.version >= 1 for request in play.demand(DescribeClusterRequest)):
        raise Skipped("the client sent no DescribeCluster v1")
    expect(not play.ended_well, "an error", play.end_text)


def _controllers(cluster: Cluster) -> None:
    cluster.role = ServerRole.CONTROLLER


@SECTION.case(5, _KIP, ClientTask.ADMIN, arrange=_controllers, may_fail=True)
def _(play: Play) -> None:
    "A client that wants brokers and meets controllers sends them nothing that they do not offer."
