"""The log is replayed in slices and shown as far as it is committed; nobody leads before that."""

import asyncio
import gc
import threading
from collections.abc import Iterator
from unittest.mock import Mock
from uuid import UUID

import pytest

from controller import replay
from controller.collector import collector
from controller.directory_log import DirectoryLog
from controller.node import ControllerNode
from controller.quorum import Quorum
from controller.raft import InstallSnapshot, OffsetAndEpoch, Replaying
from controller.replay import SLICE, Replay, Replayed
from controller.replay_task import MANY_SLICES, ReplayTask
from controller.runtime import Runtime
from controller.view import View
from kwire.apis.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.apis.a52_vote import PartitionData, TopicData, VoteRequest, VoteResponse
from kwire.apis.a55_describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kwire.batches import Record, build_batch
from kwire.connection import Connection
from kwire.error_codes import ErrorCode
from kwire.image import apply_all
from kwire.logdir.log import MetadataLog
from kwire.logdir.names import METADATA_FOLDER
from kwire.metadata_records import VersionedRecord, read_metadata_record
from kwire.records.topic import TopicRecord

PATIENCE = 60.0
QUICK = {
    "controller.quorum.election.timeout.ms": "200",
    "controller.quorum.fetch.timeout.ms": "1000",
}


def topics(first: int, count: int) -> list[VersionedRecord]:
    return [
        VersionedRecord(record=TopicRecord(name=f"t{n}", topic_id=UUID(int=n + 1)), version=0)
        for n in range(first, first + count)
    ]


class Counted:
    """Counts records as they are decoded, and forgets the count at every turn of the loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = self.most = self.total = 0
        read = read_metadata_record

        def counted(value: bytes) -> VersionedRecord:
            self.count += 1
            self.total += 1
            self.most = max(self.most, self.count)
            return read(value)

        monkeypatch.setattr(replay, "read_metadata_record", counted)

    async def turns(self) -> None:
        while True:
            self.count = 0
            await asyncio.sleep(0)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


class FakeLog:
    """As much of a directory's log as a Replay reads: batches, and one snapshot."""

    def __init__(self, *sizes: int) -> None:
        self.batches: list[tuple[int, int, bytes]] = []
        self.snapshot: list[VersionedRecord] = []
        self.ids: list[OffsetAndEpoch] = []
        self.append(*sizes)

    def append(self, *sizes: int) -> None:
        for size in sizes:
            base = self.end.offset
            records = [Record(value=one.encode()) for one in topics(base, size)]
            data = build_batch(records, base_offset=base, partition_leader_epoch=1)
            self.batches.append((base, base + size, data))

    def truncate(self, offset: int) -> None:
        self.batches = [batch for batch in self.batches if batch[1] <= offset]

    @property
    def end(self) -> OffsetAndEpoch:
        end = self.batches[-1][1] if self.batches else self.ids[-1].offset if self.ids else 0
        return OffsetAndEpoch(offset=end, epoch=1)

    def snapshots(self) -> list[OffsetAndEpoch]:
        return self.ids

    def iter_snapshot(self, id: OffsetAndEpoch) -> Iterator[VersionedRecord]:
        return iter(self.snapshot)

    def read(self, offset: int, max_bytes: int, end: int) -> bytes:
        return b"".join(
            data for base, behind, data in self.batches if base >= offset and behind <= end
        )


def replay_of(log: FakeLog) -> Replay:
    return Replay(log)  # type: ignore[arg-type]


def slices(tested: Replay) -> int:
    """Apply all; how many slices it took."""
    count = 1
    while tested.apply_slice():
        count += 1
    return count


def names(tested: Replay) -> int:
    return len(tested.committed.view.image.topics.ids)


@pytest.mark.parametrize("sizes", [(10 * SLICE,), (1,) * 3 * SLICE, (SLICE - 1,) * 7])
def test_no_slice_has_more_records_than_a_slice(sizes: tuple[int, ...], counted: Counted) -> None:
    tested = replay_of(FakeLog(*sizes))
    while tested.apply_slice():
        counted.count = 0
    assert counted.most <= SLICE
    tested.commit(sum(sizes))
    assert (tested.committed.offset, names(tested)) == (sum(sizes), sum(sizes))


def test_what_a_node_reads_at_its_start_is_shown_once_it_is_committed() -> None:
    tested = replay_of(FakeLog(5, 5, 5))
    slices(tested)
    assert tested.committed == Replayed()
    tested.commit(10)
    assert (tested.committed.offset, names(tested)) == (10, 10)
    tested.commit(15)
    assert (tested.committed.offset, names(tested)) == (15, 15)


def test_a_high_watermark_that_is_further_than_what_was_read_is_read_up_to() -> None:
    log = FakeLog(5)
    tested = replay_of(log)
    slices(tested)
    log.append(5)
    tested.commit(10)
    assert tested.is_behind
    slices(tested)
    assert (tested.committed.offset, names(tested)) == (10, 10)


def test_a_half_applied_batch_is_not_shown() -> None:
    """A batch is atomic."""
    tested = replay_of(FakeLog(2, 2 * SLICE))
    tested.commit(2 + 2 * SLICE)
    assert tested.apply_slice()
    assert names(tested) == 2


def test_a_high_watermark_within_a_batch_waits_for_its_end() -> None:
    tested = replay_of(FakeLog(5, 5))
    slices(tested)
    tested.commit(7)
    assert (slices(tested), tested.committed.offset) == (1, 5)
    tested.commit(10)
    assert tested.committed.offset == 10


@pytest.mark.parametrize("applied", [0, 1, 5])
def test_uncommitted_records_that_are_truncated_are_forgotten(applied: int) -> None:
    log = FakeLog(SLICE, 1, SLICE)
    tested = replay_of(log)
    for _ in range(applied):
        tested.apply_slice()
    log.truncate(SLICE)
    tested.truncate(SLICE)
    log.append(3)
    tested.commit(SLICE + 3)
    slices(tested)
    assert (tested.committed.offset, names(tested)) == (SLICE + 3, SLICE + 3)


def test_a_log_of_more_batches_than_are_kept_is_read_again_where_it_is_truncated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replay, "_KEPT", 2)
    log = FakeLog(1, 1, 1, 1, 1)
    tested = replay_of(log)
    slices(tested)
    tested.commit(1)
    assert tested.committed.offset == 0
    log.truncate(2)
    tested.truncate(2)
    tested.commit(2)
    slices(tested)
    assert (tested.committed.offset, names(tested)) == (2, 2)


def test_a_snapshot_is_applied_in_slices_and_shown_when_it_is_whole() -> None:
    log = FakeLog(3)
    tested = replay_of(log)
    tested.commit(3)
    slices(tested)
    log.batches, log.snapshot = [], topics(0, 3 * SLICE)
    log.ids = [OffsetAndEpoch(offset=5000, epoch=1)]
    tested.load(log.ids[0])
    assert tested.apply_slice()
    assert (tested.committed.offset, names(tested)) == (3, 3)
    assert slices(tested) >= 2
    assert (tested.committed.offset, names(tested)) == (5000, 3 * SLICE)
    log.append(2)
    tested.commit(5002)
    slices(tested)
    assert names(tested) == 3 * SLICE + 2


def test_a_newer_snapshot_takes_the_place_of_the_one_in_work() -> None:
    log = FakeLog()
    log.snapshot, log.ids = topics(0, 3 * SLICE), [OffsetAndEpoch(offset=5000, epoch=1)]
    tested = replay_of(log)
    assert tested.apply_slice()
    log.snapshot, log.ids = topics(0, 2), [OffsetAndEpoch(offset=6000, epoch=1)]
    tested.load(log.ids[0])
    slices(tested)
    assert (tested.committed.offset, names(tested)) == (6000, 2)


def test_what_a_leader_wrote_itself_is_not_read_again(counted: Counted) -> None:
    log = FakeLog(5)
    tested = replay_of(log)
    tested.commit(5)
    slices(tested)
    before = counted.total
    view = View(image=apply_all(tested.committed.view.image, topics(5, 5)), end_offset=10)
    log.append(5, 5)
    tested.follow(Replayed(offset=10, view=view))
    tested.commit(15)
    slices(tested)
    assert (names(tested), counted.total - before) == (15, 5)


def fill(quorum: Quorum, node_id: int, epoch: int, count: int) -> None:
    """Append batches of topics behind the log of a node that is down."""
    folder = quorum.members[node_id].folder / METADATA_FOLDER
    with MetadataLog.open(folder) as log:
        for first in range(0, count, 1000):
            records = [
                Record(value=one.encode(), timestamp=1)
                for one in topics(first, min(1000, count - first))
            ]
            log.append(
                build_batch(records, base_offset=log.end_offset, partition_leader_epoch=epoch)
            )


async def reached(node: ControllerNode, offset: int) -> None:
    await node.metadata.until(lambda: node.metadata.offset >= offset)


async def stopped(quorum: Quorum, count: int) -> int:
    """Fill the logs of all nodes alike and leave them down; the last epoch."""
    leader = await quorum.wait_for_leader()
    epoch = leader.raft.epoch
    end = leader.raft.end_offset
    async with asyncio.timeout(PATIENCE):
        for node in quorum.nodes.values():
            await reached(node, end)
    for node in list(quorum.nodes.values()):
        await node.kill()
    for node_id in quorum.members:
        fill(quorum, node_id, epoch, count)
    return epoch


async def test_between_two_turns_of_the_loop_a_node_applies_one_slice(counted: Counted) -> None:
    quiet = QUICK | {"metadata.max.idle.interval.ms": "0"}
    async with Quorum(1, properties=quiet) as quorum:
        await stopped(quorum, 10 * SLICE)
        turns = asyncio.create_task(counted.turns())
        counted.most = 0
        await quorum.start_node(3000)
        leader = await quorum.wait_for_leader()
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


async def test_a_node_that_replays_answers_and_does_not_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Quorum(3, properties=QUICK) as quorum:
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
        leader = await quorum.wait_for_leader()
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
    """It neither fetches nor stands until the snapshot is in its log's place."""
    often = {
        "metadata.log.max.record.bytes.between.snapshots": "600",
        "metadata.max.retention.bytes": "2000",
        "metadata.max.idle.interval.ms": "20",
    }
    async with Quorum(3, properties=QUICK | often) as quorum:
        leader = await quorum.wait_for_leader()
        behind = next(node for node in quorum.nodes.values() if node is not leader)
        end = behind.raft.end_offset
        await behind.kill()
        async with asyncio.timeout(PATIENCE):
            await leader.metadata.until(lambda: leader.log.start_offset > end + 100)
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
    """What is left out once is never collected, the garbage of a moment included."""
    left_out: list[bool] = []
    monkeypatch.setattr(collector, "leave_out_all", lambda: left_out.append(gc.isenabled()))
    left = iter(range(slices, -1, -1))
    tested, runtime = Mock(Replay), Mock(Runtime)
    tested.apply_slice.side_effect = lambda: next(left) > 0
    task = ReplayTask(tested, runtime, publish=Mock(), read=Mock())
    task.start()
    for _ in range(slices + 1):
        await asyncio.sleep(0)
    assert not task.is_running
    assert left_out == [False] * expected
    runtime.feed.assert_called_once_with(Replaying(is_replaying=False))
    assert gc.isenabled()
