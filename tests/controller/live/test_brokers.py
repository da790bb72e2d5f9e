"""Brokers of Kafka's boot from a quorum of kwire's, serve clients, die and come back."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from kwire.testing.quorum import Quorum
from real_kafka import Launcher, RunningNode
from tests.support.controller.live.broker_traffic import (
    consume,
    create,
    produce,
    transact,
    until_broker,
    until_partitions,
)
from tests.support.controller.live.java_nodes import JavaNodes


@pytest.fixture
async def quorum() -> AsyncIterator[Quorum]:
    async with Quorum(3) as running:
        yield running


@pytest.fixture
async def java(kafka: Launcher, quorum: Quorum) -> AsyncIterator[JavaNodes]:
    nodes = JavaNodes(kafka, quorum)
    yield nodes
    await asyncio.to_thread(nodes.close)


async def started(nodes: JavaNodes, quorum: Quorum, broker_id: int) -> RunningNode:
    broker = nodes.make(broker_id, "broker")
    await asyncio.to_thread(broker.start)
    await until_broker(quorum, broker_id, active=True)
    return broker


async def test_a_broker_registers_creates_topics_and_serves_producers_and_groups(
    quorum: Quorum, java: JavaNodes
) -> None:
    broker = await started(java, quorum, 1)
    bootstrap = str(broker.broker_address)
    await asyncio.to_thread(create, bootstrap, "numbers", 3, 1)
    await asyncio.to_thread(produce, bootstrap, "numbers", 30)
    assert await asyncio.to_thread(consume, bootstrap, "numbers", 30) == list(range(30))
    leader = await quorum.active_controller()
    names = {topic.name for topic in leader.metadata.image.topics.by_id.values()}
    assert names == {"numbers", "__consumer_offsets"}


async def test_a_broker_that_dies_loses_leadership_and_gets_it_back_with_its_replicas(
    quorum: Quorum, java: JavaNodes
) -> None:
    first, second = [await started(java, quorum, id) for id in (1, 2)]
    both = f"{first.broker_address},{second.broker_address}"
    await asyncio.to_thread(create, both, "numbers", 2, 2)
    await asyncio.to_thread(produce, both, "numbers", 10)

    await asyncio.to_thread(first.kill)
    await until_partitions(
        quorum, "numbers", lambda partition: partition.leader == 2 and partition.isr == (2,)
    )
    await until_broker(quorum, 1, active=False)
    await asyncio.to_thread(produce, str(second.broker_address), "numbers", 10)

    await asyncio.to_thread(first.start)
    await until_partitions(quorum, "numbers", lambda partition: set(partition.isr) == {1, 2})
    expected = sorted(2 * list(range(10)))
    assert await asyncio.to_thread(consume, both, "numbers", 20) == expected

    await asyncio.to_thread(create, both, "shared", 4, 2)
    leader = await quorum.active_controller()
    shared = leader.metadata.image.topics.topic("shared")
    assert shared is not None
    assert {partition.leader for partition in shared.partitions.values()} == {1, 2}
    await asyncio.to_thread(first.stop)
    await until_partitions(quorum, "shared", lambda partition: partition.leader == 2)
    shutdown = [line for line in first.log(400).splitlines() if "controlled shutdown" in line]
    assert "The controller has asked us to exit controlled shutdown" in "".join(shutdown[-1:])


async def test_clients_do_not_notice_that_another_controller_leads(
    quorum: Quorum, java: JavaNodes
) -> None:
    broker = await started(java, quorum, 1)
    bootstrap = str(broker.broker_address)
    await asyncio.to_thread(create, bootstrap, "before", 1, 1)
    for turn in range(3):
        leader = await quorum.active_controller()
        await leader.kill()
        await quorum.wait_for_leader()
        await asyncio.to_thread(create, bootstrap, f"after-{turn}", 1, 1)
        await asyncio.to_thread(produce, bootstrap, f"after-{turn}", 5)
        await quorum.start_node(leader.node_id)
    for topic in ("after-0", "after-1", "after-2"):
        assert await asyncio.to_thread(consume, bootstrap, topic, 5) == list(range(5))
    assert broker.alive


async def test_a_transaction_is_committed_and_another_aborted(
    quorum: Quorum, java: JavaNodes
) -> None:
    broker = await started(java, quorum, 1)
    bootstrap = str(broker.broker_address)
    await asyncio.to_thread(create, bootstrap, "numbers", 1, 1)
    await asyncio.to_thread(transact, bootstrap, "numbers")
    assert await asyncio.to_thread(consume, bootstrap, "numbers", 3) == [0, 1, 2]


async def test_kafkas_own_tools_describe_and_change_topics(quorum: Quorum, java: JavaNodes) -> None:
    broker = await started(java, quorum, 1)
    server = ("--bootstrap-server", str(broker.broker_address))
    topics = "org.apache.kafka.tools.TopicCommand"
    create_ = ("--create", "--topic", "t", "--partitions", "2", "--config", "retention.ms=1000")
    for arguments in (create_, ("--alter", "--topic", "t", "--partitions", "4")):
        told = await asyncio.to_thread(broker.tool, topics, *server, *arguments)
        assert told.returncode == 0, told.stderr
    told = await asyncio.to_thread(broker.tool, topics, *server, "--describe", "--topic", "t")
    assert "PartitionCount: 4\tReplicationFactor: 1\tConfigs: " in told.stdout
    assert "retention.ms=1000" in told.stdout
    told = await asyncio.to_thread(broker.tool, topics, *server, "--delete", "--topic", "t")
    assert told.returncode == 0, told.stderr
    leader = await quorum.active_controller()
    assert [topic.name for topic in leader.metadata.image.topics.by_id.values()] == []


@pytest.mark.parametrize(("version", "release"), [("3.9.1", "3.9-IV0"), ("4.4.0", "4.4")])
async def test_a_broker_of_another_release_boots_at_its_own_metadata_version(
    kafka: Launcher, version: str, release: str
) -> None:
    async with Quorum(1, release=release) as quorum:
        nodes = JavaNodes(kafka, quorum, version)
        try:
            broker = await started(nodes, quorum, 1)
            bootstrap = str(broker.broker_address)
            await asyncio.to_thread(create, bootstrap, "numbers", 1, 1)
            await asyncio.to_thread(produce, bootstrap, "numbers", 5)
            assert await asyncio.to_thread(consume, bootstrap, "numbers", 5) == list(range(5))
        finally:
            await asyncio.to_thread(nodes.close)
