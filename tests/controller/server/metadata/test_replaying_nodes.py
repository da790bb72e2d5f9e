"""Nodes that replay a long log answer meanwhile, and nobody leads before it has."""

import asyncio
import gc
import threading
from unittest.mock import Mock

import pytest

from kwire.batches import Record, build_batch
from kwire.controller.raft import InstallSnapshot, Replaying
from kwire.controller.server.collector import collector
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.server.metadata.replay import SLICE, Replay
from kwire.controller.server.metadata.replay_task import MANY_SLICES, ReplayTask
from kwire.controller.server.node import ControllerNode
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.error_codes import ErrorCode
from kwire.logdir.log import MetadataLog
from kwire.logdir.names import METADATA_FOLDER
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a52_vote import PartitionData, TopicData, VoteRequest, VoteResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from tests.support.controller.server.topic_records import CountedDecoding, topics
from tests.support.virtual_time import in_virtual_time

PATIENCE = 60.0
QUICK = {
    "controller.quorum.election.timeout.ms": "200",
    "controller.quorum.fetch.timeout.ms": "1000",
}
QUIET = QUICK | {"metadata.max.idle.interval.ms": "0"}
"""Without a NoOpRecord now and then, which one of the nodes might not have."""


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> CountedDecoding:
    return CountedDecoding(monkeypatch)


def fill(quorum: Quorum, node_id: int, epoch: int, count: int) -> None:
    """Append batches of topics behind the log of a node that is down."""
    folder = quorum.members[node_id].folder / METADATA_FOLDER
    with MetadataLog.open(folder) as log:
        for first in range(0, count, 1000):
            records = [
                Record(value=topic.encode(), timestamp=1)
                for topic in topics(first, min(1000, count - first))
            ]
            log.append(
                build_batch(records, base_offset=log.end_offset, partition_leader_epoch=epoch)
            )


async def reached(node: ControllerNode, offset: int) -> None:
    await node.metadata.until(lambda: node.metadata.offset >= offset)


async def stopped(quorum: Quorum, count: int) -> int:
    """Fill the logs of all nodes alike and leave them down; the last epoch."""
    leader = await quorum.active_controller()
    epoch = leader.raft.epoch
    async with asyncio.timeout(PATIENCE):
        # Nothing is written behind these.
        await leader.metadata.until(
            lambda: len(leader.metadata.image.cluster.controllers) == len(quorum.members)
        )
        end = leader.raft.end_offset
        for node in quorum.nodes.values():
            await reached(node, end)
    for node in list(quorum.nodes.values()):
        await node.kill()
    for node_id in quorum.members:
        fill(quorum, node_id, epoch, count)
    return epoch


async def test_between_two_turns_of_the_loop_a_node_applies_one_slice(
    counted: CountedDecoding,
) -> None:
    async with Quorum(1, properties=QUIET) as quorum:
        await stopped(quorum, 10 * SLICE)
        turns = asyncio.create_task(counted.turns())
        counted.most = 0
        await quorum.start_node(3000)
        leader = await quorum.active_controller()
        turns.cancel()
        assert len(leader.metadata.image.topics.ids) == 10 * SLICE
    assert counted.most <= SLICE


class Held:
    """Keeps every Replay where it is after its first slice, until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.held: set[Replay] = set()
        self.released = False
        apply = Replay.apply_slice

        def hold(tested: Replay) -> bool:
            if tested in self.held and not self.released:
                return True
            self.held.add(tested)
            return apply(tested)

        monkeypatch.setattr(Replay, "apply_slice", hold)


DESCRIBE = DescribeQuorumRequest()
CREATE = CreateTopicsRequest(
    topics=[CreatableTopic(name="new", num_partitions=1, replication_factor=1)]
)


@in_virtual_time
async def test_a_node_that_replays_answers_and_does_not_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Quorum(3, properties=QUIET) as quorum:
        epoch = await stopped(quorum, 3 * SLICE)
        held = Held(monkeypatch)
        nodes = [await quorum.start_node(node_id) for node_id in quorum.members]
        for node in nodes:
            assert node.metadata.is_replaying
        vote = VoteRequest(
            cluster_id=quorum.cluster_id,
            voter_id=nodes[0].node_id,
            topics=[
                TopicData(
                    topic_name="__cluster_metadata",
                    partitions=[
                        PartitionData(
                            replica_epoch=epoch,
                            replica_id=nodes[1].node_id,
                            replica_directory_id=quorum.members[nodes[1].node_id].directory_id,
                            voter_directory_id=quorum.members[nodes[0].node_id].directory_id,
                            last_offset=1 << 40,
                            last_offset_epoch=epoch,
                            pre_vote=True,
                        )
                    ],
                )
            ],
        )
        async with await Connection.open(*quorum.addresses[nodes[0].node_id]) as connection:
            created = await connection.send(CREATE, timeout=PATIENCE)
            assert isinstance(created, CreateTopicsResponse)
            assert created.topics[0].error_code == ErrorCode.NOT_CONTROLLER
            described = await connection.send(DESCRIBE, timeout=PATIENCE)
            assert isinstance(described, DescribeQuorumResponse)
            voted = await connection.send(vote, timeout=PATIENCE)
            assert isinstance(voted, VoteResponse)
            assert voted.topics[0].partitions[0].vote_granted
        until = nodes[0].runtime.now + 1500  # behind every time-out: who may stand would have stood
        while nodes[0].runtime.now < until:
            await asyncio.sleep(0.02)
            assert {node.raft.role for node in nodes} <= {"unattached", "follower", "resigned"}

        held.released = True
        leader = await quorum.active_controller()
        assert len(leader.metadata.image.topics.ids) == 3 * SLICE
        assert leader.raft.epoch > epoch


def slow(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Have every downloaded snapshot wait before it is flushed: entered, opened."""
    entered, opened = threading.Event(), threading.Event()
    finish = DirectoryLog.finish_snapshot

    def wait(log: DirectoryLog, effect: InstallSnapshot) -> None:
        entered.set()
        assert opened.wait(PATIENCE)
        finish(log, effect)

    monkeypatch.setattr(DirectoryLog, "finish_snapshot", wait)
    return entered, opened


async def test_a_follower_answers_while_it_flushes_and_checks_a_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The follower neither fetches nor stands for election until the snapshot replaces its log."""
    often = {
        "metadata.log.max.record.bytes.between.snapshots": "600",
        "metadata.max.retention.bytes": "2000",
        "metadata.max.idle.interval.ms": "5",
    }
    async with Quorum(3, properties=QUICK | often) as quorum:
        leader = await quorum.active_controller()
        behind = next(node for node in quorum.nodes.values() if node is not leader)
        end = behind.raft.end_offset
        await behind.kill()
        async with asyncio.timeout(PATIENCE):
            await leader.metadata.until(lambda: leader.log.start_offset > end)
        entered, opened = slow(monkeypatch)
        behind = await quorum.start_node(behind.node_id)
        assert await asyncio.to_thread(entered.wait, PATIENCE)
        async with await Connection.open(*quorum.addresses[behind.node_id]) as connection:
            described = await connection.send(DESCRIBE, timeout=PATIENCE)
        assert isinstance(described, DescribeQuorumResponse)
        assert behind.log.end.offset == end
        assert behind.raft.role == "follower"
        opened.set()
        async with asyncio.timeout(PATIENCE):
            await behind.metadata.until(lambda: behind.metadata.offset > leader.log.start_offset)
        assert behind.metadata.image.features == leader.metadata.image.features


@pytest.mark.parametrize(("slices", "expected"), [(3, 0), (MANY_SLICES + 1, 1)])
async def test_only_a_long_replay_is_left_out_of_later_collections(
    slices: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects that are left out once are never collected, temporary garbage included."""
    left_out: list[bool] = []
    monkeypatch.setattr(collector, "leave_out_all", lambda: left_out.append(gc.isenabled()))
    left = iter(range(slices, -1, -1))
    tested, runtime = Mock(Replay), Mock(RaftRuntime)
    tested.apply_slice.side_effect = lambda: next(left) > 0
    task = ReplayTask(tested, runtime, publish=Mock(), read=Mock())
    task.start()
    for _ in range(slices + 1):
        await asyncio.sleep(0)
    assert not task.is_running
    assert left_out == [False] * expected
    runtime.feed.assert_called_once_with(Replaying(is_replaying=False))
    assert gc.isenabled()
