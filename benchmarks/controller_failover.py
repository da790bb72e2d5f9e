"""Time that a broker of Kafka's is without a controller when the leader is killed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from kwire.controller.server.quorum import Quorum
from kwire.errors import KwireError
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.net.connection import Connection
from real_kafka import Cluster, Launcher, Layout, RunningNode
from tests.support.controller.live.admin_session import leader_of
from tests.support.controller.live.java_nodes import JavaNodes

Act = Callable[[int], Awaitable[None]]
Addresses = dict[int, tuple[str, int]]
IDS = (3000, 3001, 3002)


async def with_kwire(launcher: Launcher, kills: int) -> list[float]:
    """Seconds of each failover: three controllers of kwire's, one broker of Kafka's."""
    async with Quorum(3) as quorum:
        nodes = JavaNodes(launcher, quorum)
        try:
            broker = nodes.make(1, "broker")
            await asyncio.to_thread(broker.start)

            async def kill(node_id: int) -> None:
                await quorum.nodes[node_id].kill()

            async def start(node_id: int) -> None:
                await quorum.start_node(node_id)

            return await _failovers(broker, quorum.addresses, kill, start, kills)
        finally:
            await asyncio.to_thread(nodes.close)


async def with_java(launcher: Launcher, kills: int) -> list[float]:
    """The same with three controllers of Kafka's, the timeouts Kafka's own defaults in both."""
    cluster = Cluster(launcher, Layout(controllers=IDS, brokers=(1,)))
    try:
        await asyncio.to_thread(cluster.start)

        async def kill(node_id: int) -> None:
            await asyncio.to_thread(cluster.nodes[node_id].kill)

        async def start(node_id: int) -> None:
            await asyncio.to_thread(cluster.nodes[node_id].start)

        at = {id: cluster.nodes[id].controller_address for id in IDS}
        addresses = {id: (one.host, one.port) for id, one in at.items()}
        return await _failovers(cluster.nodes[1], addresses, kill, start, kills)
    finally:
        await asyncio.to_thread(cluster.close)


async def _failovers(
    broker: RunningNode, addresses: Addresses, kill: Act, start: Act, kills: int
) -> list[float]:
    """Kill the leader so often; measure until the broker has had a topic created again."""
    times = []
    await _created(broker, "warm")
    for turn in range(kills):
        victim = await leader_of(addresses)
        began = time.perf_counter()
        await kill(victim)
        await _created(broker, f"topic-{turn}")
        times.append(time.perf_counter() - began)
        await start(victim)
        await asyncio.sleep(3)
    return times


async def _created(broker: RunningNode, name: str) -> None:
    """Ask the broker for a topic, every 20 ms, until it says that it is created or there."""
    at = broker.broker_address
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    while True:
        try:
            async with await Connection.open(at.host, at.port) as connection:
                while True:
                    request = CreateTopicsRequest(topics=[topic], timeout_ms=1000)
                    answer = await connection.send(request, timeout=2)
                    assert isinstance(answer, CreateTopicsResponse)
                    if answer.topics[0].error_code in (0, 36):
                        return
                    await asyncio.sleep(0.02)
        except KwireError:
            await asyncio.sleep(0.02)
