"""Each request is answered by the service, routed, or passed; each flow says which."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.errors import AnswerLost
from kwire.messages.a18_api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
)
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kwire.messages.a29_describe_acls import DescribeAclsRequest, DescribeAclsResponse
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.service import RequestContext
from kwire.proxy import DecodedFlow, Filters, Flow, Listener, Proxy, Ring
from kwire.proxy.flows.flow import Effect
from kwire.proxy.serve import Dispatch, RoutedResponse
from kwire.proxy.serve.audit import NOT_KNOWN, Audit, RoutedChange
from kwire.proxy.serve.callers import Caller
from kwire.proxy.serve.describe_configs import join_responses, split_by_owner
from kwire.proxy.serve.modes import start_task
from scripted_node import ScriptedNode

PATIENCE = 60.0


@dataclass
class Scripted:
    """A service, or a router, that does as it is told and remembers who asked."""

    apis: Mapping[int, Versions]
    act: Callable[[Request], Awaitable[Response | None]]
    asked: list[RequestContext] = field(default_factory=list)

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        self.asked.append(context)
        return await self.act(request)

    reads: Container[int] = ()
    lends_rights: bool = False
    may: bool = True

    def may_route(self, key: int, caller: Caller) -> bool:
        return self.may

    async def route(
        self, request: Request, context: RequestContext, caller: Caller
    ) -> RoutedResponse | None:
        response = await self.answer(request, context)
        return None if response is None else RoutedResponse(response=response, node="node 7")


async def described(request: Request) -> Response:
    return DescribeClusterResponse(cluster_id="answered here")


async def deleted(request: Request) -> Response:
    return DeleteTopicsResponse(throttle_time_ms=42)


def node() -> ScriptedNode:
    """A node that offers DeleteTopics v0-3, DescribeAcls and DescribeDelegationToken."""

    def versions(frame: object) -> ApiVersionsResponse:
        offers = {18: (0, 4), 20: (0, 3), 29: (1, 3), 41: (1, 3)}
        return ApiVersionsResponse(
            api_keys=[
                ApiVersion(api_key=key, min_version=low, max_version=high)
                for key, (low, high) in offers.items()
            ],
            finalized_features=[
                FinalizedFeatureKey(name="x", max_version_level=3, min_version_level=1)
            ],
        )

    return ScriptedNode(
        {
            ApiVersionsRequest: versions,
            DescribeAclsRequest: lambda frame: DescribeAclsResponse(throttle_time_ms=1),
            DescribeClusterRequest: lambda frame: DescribeClusterResponse(cluster_id="passed"),
        }
    )


@asynccontextmanager
async def client(
    service: Scripted,
    router: Scripted | None = None,
    simulated: frozenset[int] = frozenset(),
    audit: Audit = lambda change: None,
) -> AsyncIterator[tuple[Connection, Ring]]:
    dispatch = Dispatch(
        service,
        start_task,
        name="scripted",
        router=router,
        withheld=frozenset({41}),
        simulated=simulated,
        audit=audit,
    )
    ring = Ring()
    async with asyncio.timeout(PATIENCE), node() as upstream:
        listener = Listener(node_id=1, upstream=Address("127.0.0.1", upstream.port))
        async with Proxy([listener], sinks=[ring], filters=Filters([dispatch])) as proxy:
            at = proxy.addresses[listener]
            async with await Connection.open(at.host, at.port, client_id="me") as connection:
                yield connection, ring


def flow(ring: Ring, api: str) -> Flow:
    (found,) = [event for event in ring if isinstance(event, Flow) and event.api == api]
    return found


async def test_every_flow_is_answered_routed_or_passed() -> None:
    service = Scripted({60: Versions("0-2")}, described)
    router = Scripted({20: Versions("1-6")}, deleted)
    async with client(service, router) as (connection, ring):
        answered = await connection.send(DescribeClusterRequest())
        assert isinstance(answered, DescribeClusterResponse)
        assert answered.cluster_id == "answered here"
        routed = await connection.send(DeleteTopicsRequest())
        assert isinstance(routed, DeleteTopicsResponse)
        assert routed.throttle_time_ms == 42
        passed = await connection.send(DescribeAclsRequest())
        assert isinstance(passed, DescribeAclsResponse)
        assert passed.throttle_time_ms == 1
    assert flow(ring, "DescribeCluster").handling == "answered"
    assert flow(ring, "DescribeCluster").notes == ("answered by the scripted service",)
    seen = DecodedFlow(flow(ring, "DescribeCluster")).response_as(DescribeClusterResponse)
    assert seen == answered
    assert flow(ring, "DeleteTopics").handling == "routed"
    assert flow(ring, "DeleteTopics").notes == ("routed to node 7",)
    assert flow(ring, "DescribeAcls").handling == "passed"
    (context,) = service.asked
    assert (context.version, context.client_id) == (2, "me")
    assert context.peer[0] == "127.0.0.1"


async def test_api_versions_is_what_service_router_and_node_offer_together() -> None:
    service = Scripted({60: Versions("0-2")}, described)
    async with client(service, Scripted({20: Versions("1-6")}, deleted)) as (connection, ring):
        offered = {key: str(one) for key, one in connection.node.api_versions.items()}
        assert offered == {18: "0-4", 20: "1-3", 29: "1-3", 60: "0-2"}
        assert "x" in connection.node.finalized_features
        assert flow(ring, "ApiVersions").handling == "answered"


async def test_a_version_that_the_service_lacks_is_the_nodes_to_answer() -> None:
    async with client(Scripted({60: Versions("0-1")}, described)) as (connection, ring):
        response = await connection.send(DescribeClusterRequest(), version=2)
        assert isinstance(response, DescribeClusterResponse)
        assert response.cluster_id == "passed"
    assert flow(ring, "DescribeCluster").handling == "passed"


async def test_what_is_simulated_is_marked() -> None:
    service = Scripted({60: Versions("0-2")}, described)
    async with client(service, simulated=frozenset({60})) as (connection, ring):
        await connection.send(DescribeClusterRequest())
    assert flow(ring, "DescribeCluster").handling == "simulated"
    assert Effect.SIMULATED in flow(ring, "DescribeCluster").effects
    assert flow(ring, "DescribeCluster").notes[0].startswith("SIMULATED")


async def test_who_cannot_be_answered_is_disconnected() -> None:
    async def nothing(request: Request) -> None:
        return None

    async with client(Scripted({60: Versions("0-2")}, nothing)) as (connection, _):
        with pytest.raises(AnswerLost):
            await connection.send(DescribeClusterRequest())


async def test_what_a_service_fails_at_is_not_tried_again_at_the_node() -> None:
    async def broken(request: Request) -> Response:
        raise ZeroDivisionError

    async with client(Scripted({60: Versions("0-2")}, broken)) as (connection, ring):
        with pytest.raises(AnswerLost):
            await connection.send(DescribeClusterRequest())
    assert "ZeroDivisionError" in flow(ring, "DescribeCluster").problems[0]


async def test_what_only_the_node_can_judge_is_passed() -> None:
    router = Scripted({29: Versions("1-3")}, deleted, may=False)
    async with client(Scripted({}, described), router) as (connection, ring):
        passed = await connection.send(DescribeAclsRequest())
        assert isinstance(passed, DescribeAclsResponse)
        assert passed.throttle_time_ms == 1
    assert router.asked == []
    assert flow(ring, "DescribeAcls").handling == "passed"
    assert flow(ring, "DescribeAcls").notes == (
        "passed: only the node knows the client's principal",
    )


async def test_a_change_that_is_routed_leaves_its_audit_line() -> None:
    changes: list[RoutedChange] = []
    router = Scripted({20: Versions("1-6"), 29: Versions("1-3")}, deleted, reads=(29,))
    async with client(Scripted({}, described), router, audit=changes.append) as (connection, _):
        await connection.send(DeleteTopicsRequest(topic_names=("orders", "pay\nments")))
        await connection.send(DescribeAclsRequest())
    (change,) = changes
    assert change.client.startswith("127.0.0.1:")
    assert (change.principal, change.api, change.node) == (
        "User:ANONYMOUS",
        "DeleteTopics v3",
        "node 7",
    )
    (fields,) = change.resources
    assert 'topic_names=["orders", "pay\\nments"]' in fields
    assert change.outcome == "done"


async def test_a_change_whose_connection_ends_before_the_answer_leaves_its_audit_line() -> None:
    changes: list[RoutedChange] = []
    begun, audited = asyncio.Event(), asyncio.Event()

    async def endless(request: Request) -> Response:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    def audit(change: RoutedChange) -> None:
        changes.append(change)
        audited.set()

    router = Scripted({20: Versions("1-6")}, endless)
    async with client(Scripted({}, described), router, audit=audit) as (connection, _):
        asking = asyncio.create_task(connection.send(DeleteTopicsRequest(topic_names=("orders",))))
        await begun.wait()
    await asyncio.gather(asking, return_exceptions=True)
    await audited.wait()
    assert [change.outcome for change in changes] == [NOT_KNOWN]


async def test_the_end_of_a_connection_ends_the_work_for_it() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def endless(request: Request) -> Response:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    async with client(Scripted({60: Versions("0-2")}, endless)) as (connection, _):
        asking = asyncio.create_task(connection.send(DescribeClusterRequest()))
        await begun.wait()
    await asyncio.gather(asking, return_exceptions=True)
    await ended.wait()


def test_configs_are_asked_of_their_owners_and_put_together_in_order() -> None:
    def resource(type: int, name: str) -> DescribeConfigsResource:
        return DescribeConfigsResource(resource_type=type, resource_name=name)

    of_nobody = [resource(4, ""), resource(4, "9" * 5000), resource(4, "٣"), resource(8, "-1")]
    asked = [resource(2, "topic"), resource(4, "7"), *of_nobody, resource(8, "7")]
    request = DescribeConfigsRequest(resources=asked)
    shares = split_by_owner(request, lambda id: True)
    assert {owner: len(share.resources) for owner, share in shares.items()} == {None: 5, 7: 2}
    strangers = split_by_owner(request, lambda id: False)
    assert {owner: len(share.resources) for owner, share in strangers.items()} == {None: 7}
    answers: dict[int | None, Response] = {
        owner: DescribeConfigsResponse(
            throttle_time_ms=owner or 1,
            results=[
                DescribeConfigsResult(
                    resource_type=one.resource_type, resource_name=one.resource_name
                )
                for one in share.resources
            ],
        )
        for owner, share in shares.items()
    }
    whole = join_responses(request, answers)
    assert [(result.resource_type, result.resource_name) for result in whole.results] == [
        (one.resource_type, one.resource_name) for one in asked
    ]
    assert whole.throttle_time_ms == 7
