"""Every node of the metadata has a listener, whether it was named at the start or not."""

import asyncio

from kwire.controller.server.quorum import Quorum
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.address import Address
from kwire.net.connection import Connection
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
