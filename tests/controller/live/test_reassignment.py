"""Partitions move between Kafka's brokers and their directories, by Kafka's tool and kwire's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from kwire.image import MetadataImage
from kwire.testing.quorum import Quorum
from real_kafka import Launcher
from tests.support.controller.live.broker_traffic import consume, produce, until_broker
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.controller.live.reassignment_tools import (
    FIRST,
    SECOND,
    ReassignmentTools,
    partitions_of,
)

TOPIC, LARGE = "numbers", "large"
COUNT = 300
BROKERS = (1, 2, 3)
RECORDS, SIZE = 30, 100_000
"""Of the large topic: at SLOW bytes a second, a replica of it is not copied while a test runs."""

SLOW = "1000"
RATES = {"leader.replication.throttled.rate", "follower.replication.throttled.rate"}
REPLICAS = {"leader.replication.throttled.replicas", "follower.replication.throttled.replicas"}
CONFIGS = "kafka.admin.ConfigCommand"


@pytest.fixture
async def quorum() -> AsyncIterator[Quorum]:
    async with Quorum(1) as running:
        yield running


@pytest.fixture
async def tools(
    kafka: Launcher, quorum: Quorum, version: str, tmp_path: Path
) -> AsyncIterator[ReassignmentTools]:
    """Three brokers with two log directories each, and the topic with its records."""
    java = JavaNodes(kafka, quorum, version)
    # A fetch brings one record of the large topic.
    nodes = {id: java.make(id, "broker", {"replica.fetch.max.bytes": "65536"}) for id in BROKERS}
    try:
        for node in nodes.values():
            folders = ",".join(f"{node.folder}/{name}" for name in (FIRST, SECOND))
            node.configure({"log.dirs": folders})
        await asyncio.gather(*(asyncio.to_thread(node.start) for node in nodes.values()))
        for id in BROKERS:
            await until_broker(quorum, id, active=True)
        tools = ReassignmentTools(quorum, nodes, tmp_path)
        await create(tools, TOPIC, "1:2,2:1")
        await asyncio.to_thread(produce, tools.bootstrap, TOPIC, COUNT)
        yield tools
    finally:
        await asyncio.to_thread(java.close)


async def create(tools: ReassignmentTools, topic: str, assignment: str) -> None:
    await tools.kwire(
        "topics", "create", topic, "--replica-assignment", assignment, *tools.by_brokers
    )


def fill(bootstrap: str) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    try:
        for sent in [producer.send(LARGE, bytes(SIZE)) for _ in range(RECORDS)]:
            sent.get(timeout=60)
    finally:
        producer.close()


async def moved_by_kafkas_tool(tools: ReassignmentTools) -> None:
    """Move with a throttle, then verify, which takes the throttle off."""
    file = ("--reassignment-json-file", tools.plan(TOPIC, [(3, 1), (2, 3)]))
    await tools.kafka(*tools.by_brokers, "--execute", *file, "--throttle", "10000000")
    assert await tools.throttles(TOPIC) == RATES | REPLICAS
    await tools.until_moved(TOPIC, (3, 1), (2, 3))
    verified = await tools.kafka(*tools.by_brokers, "--verify", *file)
    assert verified.count("is completed") == 2, verified
    assert not await tools.throttles(TOPIC)


async def moved_by_kwire(tools: ReassignmentTools) -> None:
    """Move and verify, then plan without one of the brokers, and move again."""
    by_brokers = tools.by_brokers
    plan = tools.plan(TOPIC, [(1, 2), (1, 2)])
    await tools.kwire(
        "partitions", "reassign", "apply", plan, "--throttle", "10000000", "--yes", *by_brokers
    )
    await tools.until_moved(TOPIC, (1, 2), (1, 2))
    assert not await tools.throttles(TOPIC)
    verified = await tools.kwire("partitions", "reassign", "verify", plan, *by_brokers)
    assert verified.count("completed") == 2, verified
    plan = str(Path(plan).with_name("drained.json"))
    await tools.kwire("partitions", "reassign", "plan", "--drain", "1", "--out", plan, *by_brokers)
    await tools.kwire("partitions", "reassign", "apply", plan, "--yes", *by_brokers)
    assert all(set(partition.replicas) == {2, 3} for partition in await tools.partitions(TOPIC))


async def all_is_consumed(tools: ReassignmentTools) -> None:
    numbers = await asyncio.to_thread(consume, tools.bootstrap, TOPIC, COUNT)
    assert numbers == list(range(COUNT))


async def slow_move(tools: ReassignmentTools) -> tuple[str, str]:
    """Begin a move that does not end; return the tool's arguments for it."""
    file = ("--reassignment-json-file", tools.plan(LARGE, [(3, 2)]))
    await tools.kafka(*tools.by_brokers, "--execute", *file, "--throttle", SLOW)
    (partition,) = await tools.partitions(LARGE)
    assert partition.replicas == (3, 2, 1)
    assert (partition.adding_replicas, partition.removing_replicas) == ((3,), (1,))
    return file


async def moves_are_cancelled(tools: ReassignmentTools) -> None:
    """A throttled move is listed and cancelled: through a controller, a broker, and by kwire."""
    await create(tools, LARGE, "1:2")
    await asyncio.to_thread(fill, tools.bootstrap)
    # Kafka's tool through the controllers: it knows no brokers there whose throttle it could lift.
    file = await slow_move(tools)
    listed = {await tools.kafka(*by, "--list") for by in (tools.by_brokers, tools.by_controllers)}
    assert len(listed) == 1
    assert f"{LARGE}-0: replicas: 3,2,1. adding: 3. removing: 1." in listed.pop()
    assert "is still in progress" in await tools.kafka(*tools.by_brokers, "--verify", *file)
    await tools.kafka(*tools.by_controllers, "--cancel", *file, "--preserve-throttles")
    await tools.until_moved(LARGE, (2, 1))
    assert await tools.throttles(LARGE) == RATES | REPLICAS
    # Through the brokers.
    file = await slow_move(tools)
    await tools.kafka(*tools.by_brokers, "--cancel", *file)
    await tools.until_moved(LARGE, (2, 1))
    assert not await tools.throttles(LARGE)
    # By kwire.
    plan = tools.plan(LARGE, [(3, 2)])
    reassign = ("partitions", "reassign")
    begin = ("apply", plan, "--throttle", SLOW, "--no-wait", "--yes")
    await tools.kwire(*reassign, *begin, *tools.by_brokers)
    assert (await tools.partitions(LARGE))[0].adding_replicas == (3,)
    assert "moving" in await tools.kwire(*reassign, "verify", plan, *tools.by_brokers)
    await tools.kwire(*reassign, "cancel", plan, "--yes", *tools.by_brokers)
    await tools.until_moved(LARGE, (2, 1))
    assert not await tools.throttles(LARGE)


async def until_in(
    tools: ReassignmentTools, topic: str, number: int, broker_id: int, name: str
) -> None:
    """Wait until the controller has it that a replica is in a directory of its broker."""
    directory = tools.directory(broker_id, name)[1]
    await tools.until(
        lambda image: partitions_of(image, topic)[number].directory(broker_id) == directory
    )


async def replicas_change_their_directory(tools: ReassignmentTools) -> None:
    """By Kafka's tool, throttled, into one directory; by kwire's into the other."""
    replicas = [partition.replicas for partition in await tools.partitions(TOPIC)]
    for name in (FIRST, SECOND):
        paths = [[tools.directory(id, name)[0] for id in brokers] for brokers in replicas]
        file = ("--reassignment-json-file", tools.plan(TOPIC, replicas, paths))
        throttle = ("--replica-alter-log-dirs-throttle", "10000000")
        await tools.kafka(*tools.by_brokers, "--execute", *file, *throttle)
        for number, brokers in enumerate(replicas):
            for id in brokers:
                await until_in(tools, TOPIC, number, id, name)
        verified = await tools.kafka(*tools.by_brokers, "--verify", *file)
        assert verified.count("completed successfully") == 4, verified
        assert not await tools.throttles(TOPIC)
    id = replicas[0][0]
    path = tools.directory(id, FIRST)[0]
    move = ("logdirs", "move", f"{TOPIC}-0@{id}", "--to", path)
    await tools.kwire(*move, *tools.by_brokers)
    await until_in(tools, TOPIC, 0, id, FIRST)


async def cordon(tools: ReassignmentTools, broker_id: int, names: Sequence[str]) -> None:
    """Cordon directories of a broker by Kafka's tool, and wait until the controller knows."""
    directories = [tools.directory(broker_id, name) for name in names]
    setting = "cordoned.log.dirs=[" + ",".join(path for path, _ in directories) + "]"
    entity = ("--entity-type", "brokers", "--entity-name", str(broker_id))
    await tools.kafka(*tools.by_brokers, "--alter", *entity, "--add-config", setting, tool=CONFIGS)
    ids = {id for _, id in directories}

    def is_cordoned(image: MetadataImage) -> bool:
        return set(image.cluster.brokers[broker_id].cordoned_directories or ()) == ids

    await tools.until(is_cordoned)


async def cordoned_directories_get_no_replicas(tools: ReassignmentTools) -> None:
    """With one directory cordoned all new replicas are in the other; with both, elsewhere.

    A replica that a reassignment wants at the broker comes into the directory that is left, too.
    """
    by_brokers = tools.by_brokers
    made = ("--partitions", "6", "--replication-factor")
    await cordon(tools, 1, [FIRST])
    await tools.kwire("topics", "create", "three", *made, "3", *by_brokers)
    for number in range(6):
        await until_in(tools, "three", number, 1, SECOND)
    plan = tools.plan(TOPIC, [(1, 2), (2, 1)])
    await tools.kwire("partitions", "reassign", "apply", plan, "--yes", *by_brokers)
    for number in range(2):
        await until_in(tools, TOPIC, number, 1, SECOND)
    await cordon(tools, 1, [FIRST, SECOND])
    await tools.kwire("topics", "create", "two", *made, "2", *by_brokers)
    assert all(set(partition.replicas) == {2, 3} for partition in await tools.partitions("two"))
    await cordon(tools, 1, [])


@pytest.mark.parametrize("version", ["4.4.0"])
async def test_partitions_with_data_move_by_both_tools(tools: ReassignmentTools) -> None:
    await moved_by_kafkas_tool(tools)
    await moved_by_kwire(tools)
    await all_is_consumed(tools)


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["4.3.1", "4.4.0"])
async def test_partitions_move_are_held_back_and_change_directories(
    tools: ReassignmentTools,
) -> None:
    """In one cluster, since it takes long to start. No record is lost in all of it."""
    await moved_by_kafkas_tool(tools)
    await moved_by_kwire(tools)
    await moves_are_cancelled(tools)
    await replicas_change_their_directory(tools)
    await cordoned_directories_get_no_replicas(tools)
    await all_is_consumed(tools)
