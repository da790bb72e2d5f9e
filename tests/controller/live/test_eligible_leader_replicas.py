"""Eligible leader replicas beside real brokers and controllers (KIP-966)."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from kwire.batches import read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.controller.server.node import ControllerNode
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.partition import RECOVERING, PartitionRegistration
from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.messages.config_resource import ResourceType
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.net.connection import Connection
from kwire.net.quorum_request import quorum_request
from kwire.testing.quorum import Quorum
from real_kafka import Launcher, Layout, RunningNode
from tests.support.controller.live.broker_traffic import consume, create, produce
from tests.support.controller.live.java_nodes import JavaNodes, segment, until_voters
from tests.support.eventually import eventually, eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster

TOPIC = "t"
IDS = (1, 2, 3)
BROKERS = {"replica.lag.time.max.ms": "60000"}
"""The controller fences the dead before leaders miss them."""
CONTROLLERS = {"min.insync.replicas": "2"}
DEADLINE = 120.0
PATIENCE = 20
"""Elections until a controller of the other kind leads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Three brokers, and the directory of the only controller's log."""

    controller: tuple[str, int]
    data: Path
    brokers: Mapping[int, RunningNode]

    def records(self) -> Iterator[VersionedRecord]:
        """Yield the records of the log."""
        for batch in read_batches(segment(self.data).read_bytes()):
            if not batch.is_control:
                for record in batch.records():
                    yield read_metadata_record(record.value or b"")

    def image(self) -> MetadataImage:
        """The metadata at the end of the log."""
        return apply_all(EMPTY, self.records())

    def partition(self) -> PartitionRegistration:
        """The only partition."""
        topic = self.image().topics.topic(TOPIC)
        assert topic is not None
        return topic.partition(0)

    def until(self, condition: Callable[[PartitionRegistration], bool]) -> None:
        """Wait until the partition is as wanted."""
        eventually_blocking(
            lambda: condition(self.partition()),
            timeout=DEADLINE,
            pause=0.3,
            report=lambda: str(self.partition()),
        )

    def until_active(self, *broker_ids: int) -> None:
        """Wait until these brokers are unfenced."""

        def active() -> bool:
            cluster = self.image().cluster
            return all(cluster.is_active(id) for id in broker_ids)

        eventually_blocking(
            active, timeout=DEADLINE, pause=0.3, report=lambda: str(self.image().cluster)
        )

    def describe(self, broker_id: int) -> str:
        """Return what kafka-topics says, without the id of the topic."""
        broker = self.brokers[broker_id]
        told = broker.tool(
            "org.apache.kafka.tools.TopicCommand",
            *("--bootstrap-server", str(broker.broker_address), "--describe", "--topic", TOPIC),
        )
        assert told.returncode == 0, told.stderr
        return re.sub(r"TopicId: \S+", "", told.stdout)


@dataclass(frozen=True, slots=True, kw_only=True)
class KillHistory:
    """Records about the partition and of brokers' configuration, and what kafka-topics said."""

    configs: dict[str, str]
    changes: list[VersionedRecord]
    descriptions: list[str]


async def create_topic(site: Site) -> None:
    topic = CreatableTopic(
        name=TOPIC,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=IDS)],
    )
    async with await Connection.open(*site.controller) as connection:
        answer = await connection.send(CreateTopicsRequest(topics=[topic], timeout_ms=30_000))
    assert isinstance(answer, CreateTopicsResponse)
    assert answer.topics[0].error_code == 0, answer


def kill_one_after_another(site: Site) -> KillHistory:
    """Kill each leader, then start all again.

    1. Two are left, as many as min.insync.replicas; then one; then none.
    2. The first that was killed comes back: it may miss records and must not lead.
    3. The second was killed, so that it may have lost what it had: it leaves the ELR.
    4. So does the third, which led last: it leads when nobody better is left.
    """
    descriptions = []
    # 1.
    site.brokers[1].kill()
    site.until(lambda partition: partition.leader == 2)
    site.brokers[2].kill()
    site.until(lambda partition: partition.leader == 3)
    descriptions.append(site.describe(3))
    site.brokers[3].kill()
    site.until(lambda partition: partition.leader == -1)
    # 2.
    site.brokers[1].start()
    site.until_active(1)
    descriptions.append(site.describe(1))
    # 3.
    site.brokers[2].start()
    site.until_active(1, 2)
    descriptions.append(site.describe(1))
    # 4.
    site.brokers[3].start()
    site.until(lambda partition: partition.leader == 3)
    site.until(lambda partition: set(partition.isr) == set(IDS))
    image = site.image()
    return KillHistory(
        configs=dict(image.configs.of(ResourceType.BROKER, "")),
        changes=list(until_recovering(site.records())),
        descriptions=descriptions,
    )


def until_recovering(records: Iterator[VersionedRecord]) -> Iterator[VersionedRecord]:
    """Yield what is written about the partition, without the id of the topic.

    After the election of the last known leader its followers join the ISR in any order.
    """
    for written in records:
        record = written.record
        if not isinstance(record, PartitionRecord | PartitionChangeRecord):
            continue
        # Directories have random ids, too.
        same = record.replace(topic_id=UUID(int=1), directories=())
        yield VersionedRecord(record=same, version=written.version)
        if record.leader_recovery_state == RECOVERING:
            return


async def with_kwire(kafka: Launcher, version: str, release: str) -> KillHistory:
    async with Quorum(1, release=release, properties=CONTROLLERS) as quorum:
        nodes = JavaNodes(kafka, quorum, version)
        try:
            site = Site(
                controller=quorum.addresses[3000],
                data=quorum.members[3000].folder,
                brokers={id: nodes.make(id, "broker", BROKERS) for id in IDS},
            )
            await asyncio.gather(*(asyncio.to_thread(one.start) for one in site.brokers.values()))
            await asyncio.to_thread(site.until_active, *IDS)
            await create_topic(site)
            return await asyncio.to_thread(kill_one_after_another, site)
        finally:
            await asyncio.to_thread(nodes.close)


async def with_kafka(own_cluster: OwnCluster, version: str) -> KillHistory:
    layout = Layout(
        controllers=(3000,), brokers=IDS, version=version, properties={**BROKERS, **CONTROLLERS}
    )
    cluster = own_cluster(layout)
    await asyncio.to_thread(cluster.start)
    controller = cluster.controllers[3000]
    at = controller.controller_address
    site = Site(
        controller=(at.host, at.port),
        data=Path(controller.folder) / "data",
        brokers=cluster.brokers,
    )
    await create_topic(site)
    return await asyncio.to_thread(kill_one_after_another, site)


@pytest.mark.nightly
@pytest.mark.parametrize(("version", "release"), [("4.3.1", "4.3"), ("4.4.0", "4.4")])
async def test_brokers_that_die_one_after_another_stay_eligible_as_in_kafka(
    kafka: Launcher, own_cluster: OwnCluster, version: str, release: str
) -> None:
    ours = await with_kwire(kafka, version, release)
    theirs = await with_kafka(own_cluster, version)

    assert ours.configs == theirs.configs == {"min.insync.replicas": "2"}
    assert "Isr: 3\tElr: 2\tLastKnownElr: " in ours.descriptions[0]
    assert "Elr: 2,3\t" in ours.descriptions[1]
    assert ours.descriptions == theirs.descriptions
    assert len(ours.changes) > 5
    assert ours.changes == theirs.changes


async def traffic(broker: RunningNode, turn: int) -> None:
    """Produce and consume in a group, whose offsets have one replica."""
    at = str(broker.broker_address)
    await asyncio.to_thread(create, at, f"numbers-{turn}", 1, 1)
    await asyncio.to_thread(produce, at, f"numbers-{turn}", 10)
    for topic in {f"numbers-{turn}", "numbers-0"}:
        assert await asyncio.to_thread(consume, at, topic, 10) == list(range(10))


async def until_seen(node: ControllerNode, broker_id: int, *, active: bool) -> None:
    """Wait until a controller of kwire's, whoever leads, has it that a broker takes part or not."""
    async with asyncio.timeout(DEADLINE):
        await node.metadata.until(
            lambda: node.metadata.image.cluster.is_active(broker_id) is active
        )


async def until_kwire_leads(node: ControllerNode, java: Mapping[int, RunningNode]) -> None:
    """Kill controllers of Kafka's that lead, and start them again, until kwire's leads."""
    for _ in range(PATIENCE):
        leader = await until_led(node)
        if leader == node.node_id:
            return
        await asyncio.to_thread(java[leader].kill)
        await until_led(node, but=leader)
        await asyncio.to_thread(java[leader].start)
    raise AssertionError(f"{node.node_id} was never elected")


async def until_led(node: ControllerNode, but: int | None = None) -> int:
    """Wait until a controller of kwire's knows a leader; its id."""
    async with asyncio.timeout(DEADLINE):
        await node.metadata.until(lambda: node.raft.leader_id not in (None, but))
    assert node.raft.leader_id is not None
    return node.raft.leader_id


@pytest.mark.nightly
async def test_one_replica_is_enough_whoever_leads_when_its_broker_dies(kafka: Launcher) -> None:
    """It goes offline for good where one controller keeps to the rules and another does not."""
    async with Quorum(1) as quorum, contextlib.AsyncExitStack() as after:
        nodes = JavaNodes(kafka, quorum)
        after.push_async_callback(asyncio.to_thread, nodes.close)
        joining = {"controller.quorum.auto.join.enable": "true"}
        java = {id: nodes.make(id, "controller", joining) for id in (3200, 3201)}
        broker = nodes.make(1, "broker")
        ours = await quorum.active_controller()
        for id, node in java.items():
            await asyncio.to_thread(node.start)
            await until_voters(ours, {3000, *range(3200, id + 1)})

        # 1. kwire leads.
        await comes_back(broker, ours, 0)
        await asyncio.to_thread(broker.kill)
        await until_seen(ours, 1, active=False)
        # 2. Kafka leads when the broker comes back, and when it is killed again.
        await ours.kill()
        await eventually(lambda: leads(*java.values()), bool, timeout=DEADLINE, pause=0.2)
        ours = await quorum.start_node(3000)
        async with asyncio.timeout(DEADLINE):
            await ours.metadata.until(lambda: ours.raft.leader_id in java)
        await comes_back(broker, ours, 1)
        await asyncio.to_thread(broker.kill)
        await until_seen(ours, 1, active=False)
        # 3. kwire leads again.
        await until_kwire_leads(ours, java)
        await comes_back(broker, ours, 2)
        await asyncio.to_thread(broker.stop)
        await comes_back(broker, ours, 3)
        assert ours.metadata.is_active
        assert ours.metadata.image.features.elr_enabled


async def leads(*controllers: RunningNode) -> bool:
    """True if one of Kafka's controllers leads: only the leader describes the quorum."""
    for controller in controllers:
        at = controller.controller_address
        async with await Connection.open(at.host, at.port) as connection:
            answer = await connection.send(quorum_request())
        assert isinstance(answer, DescribeQuorumResponse)
        if answer.topics and answer.topics[0].partitions[0].error_code == 0:
            return True
    return False


async def comes_back(broker: RunningNode, controller: ControllerNode, turn: int) -> None:
    """Start a broker, and use it."""
    await asyncio.to_thread(broker.start)
    await until_seen(controller, 1, active=True)
    await traffic(broker, turn)
