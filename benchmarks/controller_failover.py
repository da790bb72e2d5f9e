"""Time that a broker of Kafka's is without a controller when the leader is killed (kill -9)."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

import controller_sides
from controller_sides import Side
from kwire.errors import KwireError
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.net.connection import Connection
from real_kafka import Cluster, Launcher, Layout, RunningNode
from tests.support.controller.live.controller_processes import ControllerProcesses
from tests.support.controller.live.java_nodes import JavaNodes

IDS = (3000, 3001, 3002)
REST = 3.0
"""Seconds between a controller's return and the next kill."""


async def with_kwire(launcher: Launcher, kills: int) -> list[float]:
    """Seconds of each failover: three controllers of kwire's, one broker of Kafka's."""
    with (
        tempfile.TemporaryDirectory(prefix="kwire-bench-") as folder,
        ControllerProcesses(Path(folder), IDS, {}) as quorum,
    ):
        nodes = JavaNodes(launcher, quorum)
        try:
            broker = nodes.make(1, "broker")
            await asyncio.to_thread(broker.start)
            return await _failovers(controller_sides.of_kwire(quorum), broker, kills)
        finally:
            await asyncio.to_thread(nodes.close)


async def with_java(launcher: Launcher, kills: int) -> list[float]:
    """The same with three controllers of Kafka's, the timeouts Kafka's own defaults in both."""
    cluster = Cluster(launcher, Layout(controllers=IDS, brokers=(1,)))
    try:
        await asyncio.to_thread(cluster.start)
        return await _failovers(controller_sides.of_kafka(cluster), cluster.nodes[1], kills)
    finally:
        await asyncio.to_thread(cluster.close)


async def _failovers(side: Side, broker: RunningNode, kills: int) -> list[float]:
    """Kill the leader so often; measure until the broker has had a topic created again."""
    times = []
    await _created(broker, "warm")
    for turn in range(kills):
        victim = await side.leader()
        began = time.perf_counter()
        await asyncio.to_thread(victim.kill)
        await _created(broker, f"topic-{turn}")
        times.append(time.perf_counter() - began)
        await asyncio.to_thread(victim.start)
        await asyncio.sleep(REST)
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
