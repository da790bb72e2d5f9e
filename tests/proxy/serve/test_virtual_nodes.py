"""Every node of the metadata has a listener, whether it was named at the start or not."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from kwire.codec.declaration import MetadataRecord
from kwire.errors import ConnectionFailed
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.messages.records.register_broker import BrokerEndpoint, RegisterBrokerRecord
from kwire.messages.records.register_controller import ControllerEndpoint, RegisterControllerRecord
from kwire.messages.records.topic import TopicRecord
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.proxy import Event, Listener, NoticeKind, Proxy
from kwire.proxy.data_path.allowed_nodes import AllowedNodes
from kwire.proxy.data_path.given_addresses import GivenAddresses
from kwire.proxy.serve import virtual_nodes
from kwire.proxy.serve.served_cluster import ServedCluster
from kwire.proxy.serve.virtual_nodes import VirtualNodes
from kwire.testing.quorum import Quorum
from tests.support.proxy.notices import notice_texts
from tests.support.proxy.serve.serving_proxy import serving
from tests.support.virtual_time import in_virtual_time

PATIENCE = 90.0


@in_virtual_time
async def test_controllers_that_nobody_named_get_listeners_too() -> None:
    async with Quorum(3) as quorum, asyncio.timeout(PATIENCE):
        first = {3000: Address(*quorum.addresses[3000])}
        async with serving(first) as served:
            live = served.mode.cluster.live
            await live.until(lambda image: len(image.cluster.controllers) == 3)
            nodes = served.mode.cluster.nodes.addresses
            while len(nodes) < 3:
                await live.changed()
            at = nodes[3002]
            async with await Connection.open(at.host, at.port) as connection:
                response = await connection.send(DescribeClusterRequest())
            assert isinstance(response, DescribeClusterResponse)
            told = {
                broker.broker_id: Address(broker.host, broker.port) for broker in response.brokers
            }
            assert told == dict(nodes)
            (through,) = [address for address in served.proxy.addresses if address.node_id == 3002]
            assert through.upstream == Address(*quorum.addresses[3002])
            others = {Address(*quorum.addresses[id]) for id in (3000, 3001)}
            # The other one, too, if it registered before this one.
            assert first[3000] in through.standbys
            assert set(through.standbys) <= others


FIRST = Listener(node_id=3000, upstream=Address("controller-0", 9093))
ELSEWHERE = Address("169.254.169.254", 80)


def controller(node_id: int, address: Address) -> RegisterControllerRecord:
    end_point = ControllerEndpoint(name="C", host=address.host, port=address.port)
    return RegisterControllerRecord(controller_id=node_id, end_points=[end_point])


def broker(node_id: int, address: Address) -> RegisterBrokerRecord:
    end_point = BrokerEndpoint(name="P", host=address.host, port=address.port)
    return RegisterBrokerRecord(broker_id=node_id, broker_epoch=1, end_points=[end_point])


def image(*records: MetadataRecord) -> MetadataImage:
    """The metadata after the first controller has registered, and these."""
    return apply_all(EMPTY, [controller(3000, FIRST.upstream), *records])


@dataclass
class Following:
    """Nodes of a proxy that serves; upstreams: what its listeners lead to, by node id."""

    proxy: Proxy
    nodes: VirtualNodes
    events: list[Event]

    @property
    def upstreams(self) -> dict[int | None, tuple[Address, ...]]:
        return {one.node_id: (one.upstream, *one.standbys) for one in self.proxy.addresses}


@asynccontextmanager
async def following(
    start: MetadataImage, given: GivenAddresses | None = None
) -> AsyncIterator[Following]:
    events: list[Event] = []
    given = given or GivenAddresses()
    nodes = VirtualNodes(
        [FIRST], lambda one: AllowedNodes().refusal(one, [FIRST.upstream]), given=given
    )
    async with given, Proxy(sinks=[events.append]) as proxy:
        await nodes.start(proxy, start)
        yield Following(proxy, nodes, events)


async def test_a_registered_address_that_is_not_allowed_is_not_connected_to_and_told() -> None:
    registered = image(controller(3001, ELSEWHERE), broker(1, ELSEWHERE))
    async with following(registered) as here:
        own = (FIRST.upstream,)
        assert here.upstreams == {3000: own, 3001: own, 1: own}
        assert [here.nodes.upstream(id, registered) for id in (3001, 1)] == [None, None]
        told = notice_texts(here.events, NoticeKind.ADDRESS_REFUSED)
        assert [text.partition(": ")[0] for text in told] == [
            "no connection to node 1 at 169.254.169.254:80",
            "no connection to node 3001 at 169.254.169.254:80",
        ]
        await here.nodes.follow(here.proxy, registered)
        assert len(notice_texts(here.events, NoticeKind.ADDRESS_REFUSED)) == 2
        guards = {one.node_id: one.guard for one in here.proxy.addresses}
        assert guards[3000] is None
        assert all(guards[id] is not None for id in (3001, 1))


async def test_a_listener_ends_with_its_node_and_moves_with_it() -> None:
    moved, before = Address("controller-0", 9095), Address("controller-0", 9094)
    async with following(image(controller(3001, before), broker(1, ELSEWHERE))) as here:
        assert here.upstreams[3001] == (before, FIRST.upstream)
        await here.nodes.follow(here.proxy, image(controller(3001, moved)))
        assert here.upstreams == {3000: (FIRST.upstream,), 3001: (moved, FIRST.upstream)}
        assert here.nodes.addresses.keys() == {3000, 3001}


async def test_a_node_has_its_address_again_when_it_has_moved_and_after_a_restart(
    tmp_path: Path,
) -> None:
    file = tmp_path / "addresses.yaml"
    moved, before = Address("controller-0", 9095), Address("controller-0", 9094)
    registered = image(controller(3001, before), broker(1, ELSEWHERE))
    async with following(registered, GivenAddresses(file)) as here:
        first = dict(here.nodes.addresses)
        await here.nodes.follow(here.proxy, image(controller(3001, moved)))
        assert here.nodes.addresses[3001] == first[3001]
    async with following(image(), GivenAddresses(file)) as here:
        await here.nodes.follow(here.proxy, registered)
        again = dict(here.nodes.addresses)
        assert {id: again[id] for id in (1, 3001)} == {id: first[id] for id in (1, 3001)}
        taken = again[1]
    with socket.create_server((taken.host, taken.port)):
        async with following(registered, GivenAddresses(file)) as here:
            (text,) = (
                text
                for text in notice_texts(here.events, NoticeKind.ADDRESS_REFUSED)
                if "clients were given" in text
            )
            now = here.nodes.addresses[1]
            assert text == f"node 1 has {now} now, and not {taken}, which clients were given"


async def test_nodes_are_looked_at_when_they_change() -> None:
    asked: list[Address] = []

    def refusal(address: Address) -> str:
        asked.append(address)
        return ""

    registered = image(controller(3001, Address("controller-0", 9094)))
    async with Proxy() as proxy:
        nodes = VirtualNodes([FIRST], refusal)
        await nodes.start(proxy, registered)
        asked.clear()
        topic = TopicRecord(name="orders", topic_id=UUID(int=1))
        await nodes.follow(proxy, apply_all(registered, [topic]))
        assert asked == []
        await nodes.follow(proxy, apply_all(registered, [controller(3001, ELSEWHERE)]))
        assert ELSEWHERE in asked


async def test_so_many_nodes_have_listeners_controllers_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(virtual_nodes, "LIMIT", 3)
    brokers = [broker(id, Address("controller-0", 9092)) for id in range(5)]
    many = image(*brokers, controller(3001, Address("controller-0", 9094)))
    async with following(many) as here:
        assert here.nodes.addresses.keys() == {3000, 3001, 0}
        (told,) = notice_texts(here.events, NoticeKind.ADDRESS_REFUSED)
        assert told == "clients see 3 nodes of the cluster and no more"
        await here.nodes.follow(here.proxy, image(*brokers))
        assert here.nodes.addresses.keys() == {3000, 0, 1}


async def test_the_proxy_logs_in_at_no_address_that_is_not_allowed() -> None:
    connector = ServedCluster([FIRST]).connector
    with pytest.raises(ConnectionFailed, match="does not connect to a node at"):
        await connector(Address("127.0.0.1", 1))


@in_virtual_time
async def test_a_controller_that_is_not_there_is_stood_in_for() -> None:
    async with Quorum(1) as quorum, asyncio.timeout(PATIENCE):
        there = Address(*quorum.addresses[3000])
        async with serving({3000: there, 3001: Address("127.0.0.1", 1)}) as served:
            at = served.mode.cluster.nodes.addresses[3001]
            async with await Connection.open(at.host, at.port) as connection:
                response = await connection.send(DescribeClusterRequest(endpoint_type=2))
            assert isinstance(response, DescribeClusterResponse)
            assert response.controller_id == 3000
        notices = [str(event) for event in served.ring]
        assert any(f"reached {there}" in text for text in notices)
