"""A live image follows real Kafka, and a quorum of kwire's own through the death of its leader."""

import asyncio
from uuid import uuid4

import pytest

from kwire.errors import BrokerError
from kwire.image.partition import PartitionRegistration
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.address import Address
from kwire.observer import LiveImage
from kwire.testing.quorum import Quorum
from real_kafka import Cluster, Layout
from scripted_node import SILENCE, ScriptedNode
from tests.support.real_kafka.own_cluster import OwnCluster
from tests.support.real_kafka.topics import create, delete
from tests.support.virtual_time import in_virtual_time

PATIENCE = 120.0
SNAPSHOTS = {
    "metadata.log.max.snapshot.interval.ms": "1000",
    "metadata.log.max.record.bytes.between.snapshots": "1000",
    "metadata.max.retention.bytes": "1",
}
QUICK = {
    "controller.quorum.election.timeout.ms": "200",
    "controller.quorum.fetch.timeout.ms": "2000",
}


def controllers(cluster: Cluster) -> list[Address]:
    return [
        Address(node.controller_address.host, node.controller_address.port)
        for node in cluster.controllers.values()
    ]


async def test_it_sees_what_real_kafka_does(quorum: Cluster) -> None:
    name = f"seen-{uuid4()}"
    async with asyncio.timeout(PATIENCE), LiveImage(controllers(quorum)) as live:
        image = await live.ready()
        assert set(image.cluster.brokers) >= {1}
        assert set(image.cluster.controllers) == {3000, 3001, 3002}
        assert live.leader_id in quorum.controllers
        assert live.leader in controllers(quorum)
        voters = live.observer.voters
        assert voters is not None
        assert {voter.voter_id for voter in voters.voters} == {3000, 3001, 3002}

        await asyncio.to_thread(create, quorum.bootstrap_servers, name)
        image = await live.until(lambda image: name in image.topics.ids)
        topic = image.topics.topic(name)
        assert topic is not None
        assert [
            (partition.replicas, partition.leader) for partition in _partitions(topic.partitions)
        ] == [((1,), 1)] * 3
        await asyncio.to_thread(delete, quorum.bootstrap_servers, name)
        await live.until(lambda image: name not in image.topics.ids)


def _partitions(partitions: object) -> list[PartitionRegistration]:
    return [one for _, one in sorted(partitions.items())]  # type: ignore[attr-defined]


async def test_it_enters_the_log_of_real_kafka_by_a_snapshot(own_cluster: OwnCluster) -> None:
    """The log begins at the first snapshot when Kafka cleans it, some seconds after its start."""
    cluster = own_cluster(Layout(controllers=(3000,), properties=SNAPSHOTS))
    await asyncio.to_thread(cluster.start)
    async with asyncio.timeout(PATIENCE):
        while True:
            async with LiveImage(controllers(cluster)) as live:
                await live.ready()
                if live.observer.snapshot is not None:
                    image = await live.until(lambda image: bool(image.cluster.controllers))
                    break
            await asyncio.sleep(0.5)
    assert live.observer.snapshot.offset <= live.offset
    assert set(image.cluster.controllers) == {3000}
    assert image.features.has_metadata_version
    voters = live.observer.voters
    assert voters is not None
    assert [voter.voter_id for voter in voters.voters] == [3000]


@in_virtual_time
async def test_it_finds_the_next_leader() -> None:
    async with Quorum(3, properties=QUICK) as quorum, asyncio.timeout(PATIENCE):
        first = await quorum.active_controller()
        # One address is enough: the others are found through the leader that nodes name.
        start = [Address(*quorum.addresses[first.node_id])]
        start += [Address(*address) for address in quorum.addresses.values()]
        async with LiveImage(start, cluster_id=quorum.cluster_id) as live:
            await live.ready()
            assert live.leader_id == first.node_id
            await first.kill()
            while live.leader_id in (-1, first.node_id):
                await live.changed()
            assert live.leader_id != first.node_id
            assert set(live.image.cluster.controllers) <= {3000, 3001, 3002}


async def test_a_refusal_ends_the_waiting() -> None:
    async with Quorum(1, properties=QUICK) as quorum, asyncio.timeout(PATIENCE):
        start = [Address(*address) for address in quorum.addresses.values()]
        async with LiveImage(start, cluster_id="another cluster") as live:
            with pytest.raises(BrokerError, match="INCONSISTENT_CLUSTER_ID"):
                await live.ready()


@in_virtual_time
async def test_a_controller_that_is_silent_does_not_keep_the_next_one_waiting() -> None:
    quorum = Quorum(1)
    await quorum.start()
    async with ScriptedNode({ApiVersionsRequest: lambda request: SILENCE}) as silent:
        start = [Address.parse(silent.address), Address.parse(quorum.bootstrap_controllers)]
        try:
            async with asyncio.timeout(1.5), LiveImage(start) as live:
                await live.ready()
        finally:
            await quorum.stop()
        assert live.leader == start[1]
