"""A quorum in this process elects, hands over, loses members and gets them back."""

import asyncio
from pathlib import Path
from random import Random

import pytest

from kwire.controller.server.environment import Environment
from kwire.controller.server.node import ControllerNode
from kwire.errors import InvalidValue, StorageFailed
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from kwire.messages.metadata_versions import METADATA_VERSION
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from tests.support.virtual_time import in_virtual_time

PATIENCE = 60.0
QUICK = {
    "controller.quorum.election.timeout.ms": "200",
    "controller.quorum.fetch.timeout.ms": "1000",
}


async def agreed(quorum: Quorum) -> None:
    """Wait until every running controller has the leader's whole log, committed."""
    leader = await quorum.active_controller()
    async with asyncio.timeout(PATIENCE):
        for node in quorum.nodes.values():
            await reached(node, leader.raft.end_offset)


async def reached(node: ControllerNode, offset: int) -> None:
    await node.metadata.until(lambda: node.metadata.offset >= offset)


async def test_three_controllers_elect_one_and_begin_with_the_bootstrap_records() -> None:
    async with Quorum(3, properties=QUICK) as quorum:
        await agreed(quorum)
        levels = [node.metadata.image.features.levels for node in quorum.nodes.values()]
        assert [features[METADATA_VERSION] for features in levels] == [30, 30, 30]
        assert sorted(node.raft.role for node in quorum.nodes.values()) == [
            "follower",
            "follower",
            "leader",
        ]


@in_virtual_time
async def test_a_leader_that_stops_hands_over_at_once() -> None:
    properties = {"controller.quorum.fetch.timeout.ms": str(10 * 1000 * int(PATIENCE))}
    async with Quorum(3, properties=properties) as quorum:
        old = await quorum.active_controller()
        async with asyncio.timeout(PATIENCE):
            await old.stop()
            new = await quorum.active_controller()
        assert new.node_id != old.node_id


@in_virtual_time
async def test_a_killed_leader_is_replaced_and_comes_back_with_its_log() -> None:
    async with Quorum(3, properties=QUICK) as quorum:
        await agreed(quorum)
        old = await quorum.active_controller()
        await old.kill()
        new = await quorum.active_controller()
        assert new.raft.epoch > old.raft.epoch
        back = await quorum.start_node(old.node_id)
        await agreed(quorum)
        assert back.raft.voters == new.raft.voters
        ends = {node.raft.end_offset for node in quorum.nodes.values()}
        logs = {node.log.read(0, 1 << 20) for node in quorum.nodes.values()}
        assert (len(ends), len(logs)) == (1, 1)


@in_virtual_time
async def test_a_whole_quorum_comes_back_with_its_metadata() -> None:
    async with Quorum(3, properties=QUICK) as quorum:
        await agreed(quorum)
        epoch = (await quorum.active_controller()).raft.epoch
        for node in list(quorum.nodes.values()):
            await node.kill()
        for node_id in quorum.members:
            await quorum.start_node(node_id)
        await agreed(quorum)
        leader = await quorum.active_controller()
        assert leader.raft.epoch > epoch
        assert leader.metadata.image.features.levels[METADATA_VERSION] == 30


@in_virtual_time
async def test_without_a_majority_nobody_leads() -> None:
    async with Quorum(3, properties=QUICK) as quorum:
        leader = await quorum.active_controller()
        for node in list(quorum.nodes.values()):
            if node is not leader:
                await node.kill()
        async with asyncio.timeout(PATIENCE):
            await leader.metadata.until(lambda: not leader.metadata.is_active)
        with pytest.raises(TimeoutError):
            await quorum.wait_for_leader(timeout=1)


@in_virtual_time
async def test_the_leader_describes_the_quorum() -> None:
    asked = DescribeQuorumRequest(
        topics=[
            TopicData(
                topic_name="__cluster_metadata", partitions=[PartitionData(partition_index=0)]
            )
        ]
    )
    async with Quorum(3, properties=QUICK) as quorum:
        await agreed(quorum)
        leader = await quorum.active_controller()
        host, port = quorum.addresses[leader.node_id]
        async with await Connection.open(host, port) as connection:
            answer = await connection.send(asked)
    assert isinstance(answer, DescribeQuorumResponse)
    described = answer.topics[0].partitions[0]
    assert described.leader_id == leader.node_id
    assert {voter.replica_id: voter.replica_directory_id for voter in described.current_voters} == {
        id: member.directory_id for id, member in quorum.members.items()
    }


def test_a_quorum_has_at_least_one_controller() -> None:
    with pytest.raises(InvalidValue, match="at least one"):
        Quorum(0)


def test_every_controller_needs_a_port_where_ports_are_given() -> None:
    with pytest.raises(InvalidValue, match="3 controllers need 3 ports, not 2"):
        Quorum(3, ports=[9093, 9094])


def test_one_seed_gives_a_quorum_the_same_ids(tmp_path: Path) -> None:
    ports = [9093, 9094, 9095]
    first, second = (
        Quorum(folder=tmp_path, ports=ports, environment=Environment(random=Random(7)))
        for _ in range(2)
    )
    assert first.cluster_id == second.cluster_id
    assert [member.directory_id for member in first.members.values()] == [
        member.directory_id for member in second.members.values()
    ]


async def test_nothing_is_left_behind() -> None:
    async with Quorum(1) as quorum:
        folder = quorum.folder
        assert folder.exists()
    assert not folder.exists()
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


@in_virtual_time
async def test_a_controller_that_joins_late_begins_with_a_snapshot() -> None:
    small = {
        "metadata.log.max.record.bytes.between.snapshots": "600",
        "metadata.max.retention.bytes": "1000",
        "metadata.log.segment.bytes": "1000",
        "metadata.max.idle.interval.ms": "20",
    }
    async with Quorum(1, properties=QUICK | small) as quorum:
        leader = await quorum.active_controller()
        async with asyncio.timeout(PATIENCE):
            await leader.metadata.until(lambda: leader.log.start_offset > 0)
        member = quorum.add_member(3005)
        late = await quorum.start_node(3005)
        assert late.log.directory_id == member.directory_id
        async with asyncio.timeout(PATIENCE):
            await reached(late, leader.raft.end_offset)
            await late.metadata.until(lambda: set(late.metadata.image.cluster.controllers) > {3000})
        assert late.log.start_offset > 0
        assert late.raft.voters == leader.raft.voters
        assert late.metadata.image == leader.metadata.image
        await late.kill()
        again = await quorum.start_node(3005)
        assert again.metadata.image.features.levels[METADATA_VERSION] == 30


async def test_a_disk_that_fails_stops_the_node_and_nothing_is_acknowledged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Quorum(1, properties=QUICK) as quorum:
        node = await quorum.active_controller()

        def broken() -> None:
            raise StorageFailed("no space left on device")

        monkeypatch.setattr(node.log, "flush", broken)
        before = node.metadata.offset
        with pytest.raises(StorageFailed, match="no space left"):
            async with asyncio.timeout(PATIENCE):
                await node.failed()
        assert node.metadata.offset == before
        monkeypatch.undo()
