"""Brokers die under clients that reach them through the proxy: nothing acknowledged is lost."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import cycle

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError

from kwire.admin import AdminClient
from kwire.admin.topics import NewTopic
from kwire.net.address import Address
from kwire.proxy import CountedFlows, Flow, Listener, Notice, Proxy, count_everything
from kwire.proxy.data_path import native_loop
from real_kafka import Cluster, Layout, free_port
from tests.support.real_kafka.own_cluster import OwnCluster

BROKERS = (1, 2, 3)
LAYOUT = Layout(
    controllers=(3000,), brokers=BROKERS, properties={"broker.session.timeout.ms": "3000"}
)
TOPIC, PARTITIONS, CLIENTS = "chaos", 6, 5
SECONDS = 60.0
BETWEEN = 8.0
"""Seconds between two deaths of brokers."""


@dataclass
class Writer:
    """A client that writes numbers, each when the one before is acknowledged or given up."""

    name: int
    servers: str
    acknowledged: list[bytes] = field(default_factory=list)

    def write(self, until: float) -> None:
        producer = KafkaProducer(
            bootstrap_servers=self.servers, acks="all", enable_idempotence=True, max_block_ms=30_000
        )
        number = 0
        while time.monotonic() < until:
            number += 1
            value = f"{self.name}-{number}".encode()
            try:
                producer.send(TOPIC, value, partition=number % PARTITIONS).get(timeout=30)
            except KafkaError:
                continue
            self.acknowledged.append(value)
        producer.close(timeout=10)


def all_values(servers: str) -> set[bytes]:
    """Read the whole topic."""
    consumer = KafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest")
    partitions = [TopicPartition(TOPIC, index) for index in range(PARTITIONS)]
    consumer.assign(partitions)
    ends = consumer.end_offsets(partitions)
    found: set[bytes] = set()
    while any(consumer.position(partition) < ends[partition] for partition in partitions):
        for records in consumer.poll(timeout_ms=1000).values():
            found.update(record.value for record in records)
    consumer.close()
    return found


async def kill_in_turn(cluster: Cluster, until: float) -> int:
    """Kill one broker after the other and start it again; return how often."""
    deaths = 0
    for node_id in cycle(BROKERS):
        await asyncio.sleep(BETWEEN / 2)
        if time.monotonic() > until - BETWEEN:
            return deaths
        node = cluster.nodes[node_id]
        await asyncio.to_thread(node.kill)
        deaths += 1
        await asyncio.sleep(BETWEEN / 2)
        await asyncio.to_thread(node.start)
    return deaths


@pytest.mark.nightly
@pytest.mark.parametrize("loop", ["C", "asyncio"])
async def test_nothing_acknowledged_is_lost_while_brokers_die(
    own_cluster: OwnCluster, loop: str
) -> None:
    assert native_loop.IS_BUILT or loop == "asyncio"
    cluster = own_cluster(LAYOUT)
    flows: list[Flow | Notice] = []
    counted: list[CountedFlows] = []
    at = {id: Address("127.0.0.1", free_port()) for id in BROKERS}
    listeners = [
        Listener(node_id=id, upstream=cluster.nodes[id].broker_address, listen=at[id])
        for id in BROKERS
    ]
    for id, address in at.items():
        cluster.nodes[id].configure({"advertised.listeners": f"PLAINTEXT://{address}"})
    servers = ",".join(map(str, at.values()))
    async with AsyncExitStack() as running:
        proxy = await running.enter_async_context(
            Proxy(
                listeners,
                sinks=[flows.append],
                wants=count_everything,
                counted=counted.append,
                native=loop == "C",
            )
        )
        await asyncio.to_thread(cluster.start)
        admin = await running.enter_async_context(AdminClient(servers, timeout=60))
        topic = NewTopic(name=TOPIC, partitions=PARTITIONS, replication_factor=3)
        (await admin.create_topics([topic])).all()
        until = time.monotonic() + SECONDS
        writers = [Writer(number, servers) for number in range(CLIENTS)]
        work = [asyncio.to_thread(writer.write, until) for writer in writers]
        killing = asyncio.create_task(kill_in_turn(cluster, until))
        await asyncio.gather(*work)
        deaths = await killing
        values = await asyncio.to_thread(all_values, servers)
        assert proxy.connections
    acknowledged = [value for writer in writers for value in writer.acknowledged]
    assert not [value for value in acknowledged if value not in values]
    assert deaths >= SECONDS / BETWEEN / 2
    assert all(len(writer.acknowledged) > SECONDS for writer in writers)
    moved = sum(it.requests for it in counted)
    one_by_one = sum(isinstance(it, Flow) for it in flows)
    assert moved > one_by_one if loop == "C" else not counted
