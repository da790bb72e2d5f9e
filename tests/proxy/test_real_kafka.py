"""Real Kafka behind the proxy: nothing passes it by, nothing changes, everything is understood."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from kwire.proxy import (
    Address,
    DecodedFlow,
    Filters,
    Flow,
    Listener,
    Notice,
    NoticeKind,
    Proxy,
    Ring,
    summarize,
)
from kwire.proxy.flows.spans import RpcSpan, Spans
from real_kafka import Cluster, Layout, free_port
from tests.support.proxy.data_path.faulty_requests import CONTROL, FAULTS
from tests.support.proxy.kafka_behind_proxy import (
    MESSAGES,
    in_front_of_controllers,
    kwire_address,
    read_and_write,
)
from tests.support.proxy.observing_filter import ObservingFilter
from tests.support.proxy.recording_relay import recording
from tests.support.proxy.tcp_connections import foreign_connections
from tests.support.real_kafka.own_cluster import OwnCluster

QUORUM_COMMAND = "org.apache.kafka.tools.MetadataQuorumCommand"


@pytest.mark.parametrize(
    "held",
    [pytest.param(False, id="passed", marks=pytest.mark.nightly), pytest.param(True, id="held")],
)
async def test_a_whole_quorum_talks_through_the_proxy(own_cluster: OwnCluster, held: bool) -> None:
    ring = Ring()
    broker_port = free_port()
    advertised = {1: {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{broker_port}"}}
    layout = Layout(controllers=(3000, 3001, 3002), brokers=(1,), node_properties=advertised)
    cluster = own_cluster(layout)
    look = ObservingFilter()
    filters = Filters([look]) if held else None
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(Proxy(sinks=[ring], filters=filters))
        bootstrap = await in_front_of_controllers(proxy, cluster)
        behind = await stack.enter_async_context(
            recording(kwire_address(cluster.brokers[1].broker_address), Address("127.0.0.1", 0))
        )
        middle = await proxy.listen(Listener(node_id=1, upstream=behind.address))
        before = await stack.enter_async_context(
            recording(middle, Address("127.0.0.1", broker_port))
        )
        await asyncio.to_thread(cluster.start)

        told = await asyncio.to_thread(
            cluster.tool,
            QUORUM_COMMAND,
            "--bootstrap-controller",
            bootstrap,
            "describe",
            "--status",
        )
        assert told.returncode == 0, told.stderr
        assert await asyncio.to_thread(read_and_write, str(before.address)) == MESSAGES

        ports = [node.controller_address.port for node in cluster.controllers.values()]
        assert foreign_connections(ports) == []
        peers = {connection.peer for connection in proxy.connections}
        assert peers >= {3000, 3001, 3002}
        await asyncio.to_thread(cluster.close)

    assert bool(look.seen) is held
    assert ({"CreateTopicsRequest", "CreateTopicsResponse"} <= look.forwarded) is held
    assert sorted(before.streams) == sorted(behind.streams)
    assert sum(len(asked) for asked, _ in before.streams) > MESSAGES * 200

    flows = [DecodedFlow(event) for event in ring if isinstance(event, Flow)]
    answered = [flow for flow in flows if flow.response is not None]
    assert [flow.problems for flow in answered if flow.problems] == []
    assert all(summarize(flow) for flow in flows)
    notices = [event for event in ring if isinstance(event, Notice)]
    assert [notice for notice in notices if notice.kind is NoticeKind.UNREADABLE] == []
    assert {flow.flow.api for flow in answered} >= {
        "ApiVersions",
        "Fetch",
        "Vote",
        "BeginQuorumEpoch",
        "BrokerRegistration",
        "BrokerHeartbeat",
        "ControllerRegistration",
        "DescribeQuorum",
        "Envelope",
        "Metadata",
        "Produce",
    }
    assert {outer.error for outer, _ in forwarded(flows)} == {""}
    described = [flow for flow in answered if flow.flow.api == "DescribeQuorum"]
    assert summarize(described[-1]).startswith("voters 3000,3001,3002 + observer 1, leader 300")


def forwarded(flows: list[DecodedFlow]) -> list[tuple[RpcSpan, RpcSpan]]:
    """The spans of a client's requests, each with that of the Envelope to the controller."""
    made = Spans()
    spans = [span for flow in flows for span in made.add(flow)]
    by_ids = {span.ids: span for span in spans}
    pairs = [(by_ids[span.parent], span) for span in spans if span.parent and span.node != "1"]
    outer = [pair for pair in pairs if pair[1].name == "Envelope"]
    assert [client.name for client, _ in outer] == ["CreateTopics"]
    assert {client.node for client, _ in outer} == {"1"}
    return outer


async def outcome(address: Address, data: bytes) -> bytes:
    """The beginning of what a node says to bytes; nothing when it closes."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    try:
        writer.write(data)
        async with asyncio.timeout(60):
            return await reader.read(12)
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


@pytest.mark.parametrize("role", ["broker", "controller"])
async def test_faults_get_from_kafka_what_they_get_without_the_proxy(
    combined: Cluster, role: str
) -> None:
    node = combined.nodes[1]
    direct = kwire_address(node.broker_address if role == "broker" else node.controller_address)
    listener = Listener(node_id=1, upstream=direct)
    answered = []
    async with Proxy([listener]) as proxy:
        through = proxy.addresses[listener]
        for fault, (data, said) in FAULTS.items():
            if said is None:  # Kafka would wait, and take the memory that was claimed
                continue
            with_proxy = await outcome(through, data)
            assert with_proxy == await outcome(direct, data), fault
            answered += [fault] if with_proxy else []
        assert await outcome(through, CONTROL) == await outcome(direct, CONTROL) != b""
    assert answered == [
        "ApiVersions v99",
        "ApiVersions v-1",
        "client id length -2",
        "invalid UTF-8 client id",
        "duplicate tags",
        "descending tags",
        "5 trailing bytes",
    ]
