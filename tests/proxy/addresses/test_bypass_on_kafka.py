"""Real nodes that advertise the proxy, or that do not: the proxy tells which."""

import asyncio

import pytest

from kwire.net.address import Address
from kwire.proxy import Listener, Notice, NoticeKind, Proxy, Tap
from kwire.proxy.addresses.bypass import BypassWatch
from real_kafka import Layout
from tests.support.eventually import eventually
from tests.support.proxy.kafka_behind_proxy import (
    MESSAGES,
    in_front_of_controllers,
    kwire_address,
    read_and_write,
)
from tests.support.real_kafka.own_cluster import OwnCluster

LAYOUT = Layout(controllers=(3000,), brokers=(1, 2))


@pytest.mark.parametrize(
    "advertised",
    [
        pytest.param(False, id="real", marks=pytest.mark.nightly),
        pytest.param(True, id="advertised"),
    ],
)
async def test_nodes_that_do_not_advertise_the_proxy_are_named(
    own_cluster: OwnCluster, advertised: bool
) -> None:
    cluster = own_cluster(LAYOUT)
    told: list[Notice] = []
    async with (
        Tap(lambda seen: watch.see(seen)) as tap,
        Proxy(sinks=[tap]) as proxy,
    ):
        watch = BypassWatch(lambda: proxy.addresses, told.append)
        if advertised:
            await in_front_of_controllers(proxy, cluster)
        else:
            controller = cluster.controllers[3000].controller_address
            address = await proxy.listen(Listener(node_id=3000, upstream=kwire_address(controller)))
            for node in cluster.brokers.values():
                node.configure({"controller.quorum.bootstrap.servers": str(address)})
        addresses: dict[int, Address] = {}
        for node_id, node in cluster.brokers.items():
            listener = Listener(node_id=node_id, upstream=kwire_address(node.broker_address))
            addresses[node_id] = await proxy.listen(listener)
            if advertised:
                node.configure({"advertised.listeners": f"PLAINTEXT://{addresses[node_id]}"})
        await asyncio.to_thread(cluster.start)
        assert await asyncio.to_thread(read_and_write, str(addresses[1])) == MESSAGES
        if not advertised:
            await eventually(lambda: len(watch.bypassed) == 3)
        await asyncio.to_thread(cluster.close)
    assert {one.kind for one in told} == (set() if advertised else {NoticeKind.BYPASSED})
    named = {(node_id, str(address)) for _, node_id, address in watch.bypassed}
    real = {
        (node_id, f"{at.host}:{at.port}")
        for node_id, node in cluster.nodes.items()
        for at in [node.broker_address if node_id in cluster.brokers else node.controller_address]
    }
    assert named == (set() if advertised else real)
