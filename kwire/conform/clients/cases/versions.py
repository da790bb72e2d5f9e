"""Negotiation of versions (KIP-35, KIP-511)."""

from __future__ import annotations

from collections.abc import Callable

from kwire.codec.declaration import Request
from kwire.conform.clients.case import ClientCase, ClientSection, ClientTask
from kwire.conform.clients.cluster import NODES, Cluster
from kwire.conform.clients.judges import DIFFERS
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import NodeReply, ReplyEnd, Turn, changed, once
from kwire.conform.expectation import expect
from kwire.conform.vocabulary import Deviation, Skipped, guide, kip
from kwire.error_codes import ErrorCode
from kwire.messages import ApiVersionsRequest, ApiVersionsResponse, ProduceRequest
from kwire.messages.a18_api_versions import ApiVersion
from kwire.messages.registry import api_key, request

SECTION = ClientSection("client/versions", "Versions are negotiated")

_GUIDE = guide("Retrieving Supported API versions")


def _offered(api: type[Request], low: int, high: int) -> Callable[[Cluster], None]:
    return lambda cluster: cluster.versions.update({api.key or 0: (low, high)})


def _highest(api: type[Request], high: int) -> Callable[[Play], None]:
    """Demand the highest version that both have; the client's is the one that it usually sends."""

    def judge(play: Play) -> None:
        usual = play.usual.sent(api) if play.usual else []
        best = min(high, max((sent.version for sent in usual), default=high))
        versions = {sent.version for sent in play.demand(api)}
        if versions != {best}:
            raise Deviation(f"v{best}", f"{versions}", DIFFERS)

    return judge


def _none_sent(api: type[Request]) -> Callable[[Play], None]:
    return lambda play: expect(not play.sent(api), "no such request", len(play.sent(api)))


_CAPPED = (
    (1, "Produce", 7, "produce"),
    (3, "Metadata", 10, "produce"),
    (4, "Fetch", 12, "consume"),
    (5, "Fetch", 5, "consume"),
    (6, "ListOffsets", 2, "consume"),
    (7, "FindCoordinator", 3, "group"),
    (8, "JoinGroup", 5, "group"),
    (9, "OffsetFetch", 7, "group"),
    (10, "OffsetCommit", 7, "group"),
    (11, "AddPartitionsToTxn", 2, "transaction"),
    (12, "CreateTopics", 4, "admin"),
)
for number, name, high, task in _CAPPED:
    api = request(api_key(name))
    SECTION[number] = ClientCase(
        sentence=f"A client sends {name} in the highest version that both have, v{high} at most.",
        source=_GUIDE,
        task=ClientTask(task),
        arrange=_offered(api, api.versions.first, high),
        judge=_highest(api, high),
    )

_LACKING = (
    (13, "Produce", "produce", (50, 51), "has none of its versions"),
    (14, "Fetch", "consume", (50, 51), "has none of its versions"),
    (15, "InitProducerId", "produce", (-1, -1), "does not offer it"),
    (16, "FindCoordinator", "group", (-1, -1), "does not offer it"),
    (17, "DescribeCluster", "admin", (-1, -1), "does not offer it"),
)
for number, name, task, versions, reason in _LACKING:
    api = request(api_key(name))
    SECTION[number] = ClientCase(
        sentence=f"A client sends no {name} to a node that {reason}.",
        source=_GUIDE,
        task=ClientTask(task),
        arrange=_offered(api, *versions),
        judge=_none_sent(api),
        may_fail=True,
    )


def _one_more(answer: ApiVersionsResponse) -> None:
    answer.api_keys.append(ApiVersion(api_key=999, min_version=0, max_version=3))


@SECTION.case(
    2,
    kip(511, "Public Interfaces"),
    ClientTask.PRODUCE,
    rules=once(ApiVersionsRequest, changed(_one_more), times=None),
)
def _(play: Play) -> None:
    "A client passes over an API that it does not know."


@SECTION.case(
    18,
    kip(511, "Public Interfaces"),
    ClientTask.PRODUCE,
    arrange=_offered(ApiVersionsRequest, 0, 2),
)
def _(play: Play) -> None:
    "A client whose ApiVersions is refused asks again in the highest version that it was told."
    refused = [sent for sent in play.scripted(ApiVersionsRequest) if sent.version > 2]
    if not refused:
        raise Skipped("the client has no ApiVersions v3")
    again = {sent.version for sent in play.after(refused[0], ApiVersionsRequest)}
    if 2 not in again:
        raise Deviation("ApiVersions v2", f"{again or 'none'}", DIFFERS)


def _without_range(turn: Turn) -> NodeReply:
    if turn.request.version == 0:
        return turn.usual_reply()
    answer = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[])
    return NodeReply(data=turn.framed(answer))


@SECTION.case(
    19,
    kip(511, "Compatibility, Deprecation, and Migration Plan"),
    ClientTask.PRODUCE,
    rules=once(ApiVersionsRequest, _without_range, times=None),
)
def _(play: Play) -> None:
    "A client whose ApiVersions is refused without a range, as before Kafka 2.4, asks in v0."


def _newest_produce(answer: ApiVersionsResponse) -> None:
    produce = next(part for part in answer.api_keys if part.api_key == ProduceRequest.key)
    produce.max_version = ProduceRequest.versions.last


def _second_node_older(cluster: Cluster) -> None:
    cluster.move_leaders()
    cluster.versions[ProduceRequest.key or 0] = (3, 7)


@SECTION.case(
    20,
    _GUIDE,
    ClientTask.PRODUCE,
    arrange=_second_node_older,
    rules=once(ApiVersionsRequest, changed(_newest_produce), node_id=NODES[0], times=None),
)
def _(play: Play) -> None:
    "A client keeps the versions of nodes apart: the second, the leader, has Produce up to v7 only."
    play.demand(ProduceRequest)


def _downgraded(turn: Turn) -> NodeReply:
    turn.cluster.versions[ProduceRequest.key or 0] = (3, 7)
    return NodeReply(end=ReplyEnd.CLOSE)


@SECTION.case(21, _GUIDE, ClientTask.PRODUCE, rules=once(ProduceRequest, _downgraded, after=1))
def _(play: Play) -> None:
    "A client asks for the versions again after a disconnection: the node may be an older one."
    expect(play.after(play.scripted(ProduceRequest)[0], ProduceRequest), "Produce again", "none")
