"""Kafka 4.4's check of whom a client takes a node for (KIP-1242), behind rewritten addresses.

The proxy changes addresses and neither cluster ids nor node ids, so what a client names is still
what the broker is; a broker that is another refuses, through the proxy as without it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.proxy import Event, Filters, Flow, Listener, Proxy
from kwire.proxy.addresses import AddressBook, NewListeners
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.summary import summarize
from real_kafka import Cluster
from tests.support.clients.task_outcome import run_task
from tests.support.real_kafka.own_names import OwnNames


@dataclass
class Rewritten:
    """A broker behind a proxy that rewrites: where clients begin, and what passed."""

    bootstrap: Address
    events: list[Event] = field(default_factory=list)

    @property
    def handshakes(self) -> list[DecodedFlow]:
        """The ApiVersions of version 5."""
        flows = (event for event in self.events if isinstance(event, Flow))
        return [DecodedFlow(flow) for flow in flows if (flow.key, flow.version) == (18, 5)]


@asynccontextmanager
async def rewritten(cluster: Cluster) -> AsyncIterator[Rewritten]:
    """One listener in front of the cluster's only broker."""
    events: list[Event] = []
    book = AddressBook()
    real = cluster.nodes[1].broker_address
    listener = Listener(node_id=1, upstream=Address(real.host, real.port))
    filters = Filters([RewriteEndpoints(book)])
    async with (
        Proxy([listener], sinks=[events.append], filters=filters) as proxy,
        NewListeners(proxy, book),
    ):
        yield Rewritten(proxy.addresses[listener], events)


def identity(handshake: DecodedFlow) -> tuple[str | None, int]:
    request = handshake.request_as(ApiVersionsRequest)
    assert request is not None
    return request.cluster_id, request.node_id


async def test_kafkas_own_clients_name_the_node_and_are_not_refused(
    kafka440: Cluster, own_name: OwnNames
) -> None:
    async with rewritten(kafka440) as here:
        name, bootstrap = own_name("records", at=kafka440.bootstrap_servers), str(here.bootstrap)
        for task in ("produce", "group"):
            work = partial(run_task, "java", bootstrap, task, topic=name, group=name)
            outcome = await asyncio.to_thread(work)
            assert outcome.exit_code == 0, outcome.errors
    assert (kafka440.cluster_id, 1) in map(identity, here.handshakes)
    for handshake in here.handshakes:
        response = handshake.response_as(ApiVersionsResponse)
        assert response is not None
        assert response.error_code == ErrorCode.NONE


async def test_a_client_that_names_another_node_or_cluster_is_refused_and_the_line_says_so(
    kafka440: Cluster,
) -> None:
    software = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    own = kafka440.cluster_id
    async with rewritten(kafka440) as here:
        at = here.bootstrap
        async with await Connection.open(at.host, at.port) as connection:
            answers = {}
            for cluster_id, node_id in ((own, 1), (own, 2), ("another", 1), (own, -1), (None, 1)):
                named = software.replace(cluster_id=cluster_id, node_id=node_id)
                answer = await connection.send(named, 5)
                assert isinstance(answer, ApiVersionsResponse)
                answers[cluster_id, node_id] = answer.error_code
    assert answers == {
        (own, 1): ErrorCode.NONE,
        (own, 2): ErrorCode.REBOOTSTRAP_REQUIRED,
        ("another", 1): ErrorCode.REBOOTSTRAP_REQUIRED,
        (own, -1): ErrorCode.INVALID_REQUEST,
        (None, 1): ErrorCode.INVALID_REQUEST,
    }
    lines = [str(summarize(handshake)) for handshake in here.handshakes]
    assert any(
        f"test 1, to node 2 of cluster {own}: REBOOTSTRAP_REQUIRED" in line for line in lines
    )
