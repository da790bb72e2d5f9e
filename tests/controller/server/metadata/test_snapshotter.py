"""A snapshot is written beside the loop: requests are answered meanwhile, and no half one stays."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any, cast
from unittest.mock import Mock

import pytest

from kwire.batches import Record, build_batch
from kwire.controller.raft import OffsetAndEpoch, Raft, RaftEvent, SnapshotTaken
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.server.metadata import snapshotter
from kwire.controller.server.node import ControllerNode
from kwire.errors import StorageFailed
from kwire.image import EMPTY, apply_all
from kwire.logdir.snapshots import build_snapshot
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum

PATIENCE = 60
EAGER = {
    "metadata.log.max.record.bytes.between.snapshots": "600",
    "metadata.max.idle.interval.ms": "20",
}


class Gate:
    """Stands in for `build_snapshot`, in whatever thread runs it: waits after the first batch."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()
        self.failure: OSError | None = None
        monkeypatch.setattr(snapshotter, "build_snapshot", self._build)

    def _build(self, *records: Any, **rest: Any) -> Iterator[bytes]:
        for batch in build_snapshot(*records, **rest):
            yield batch
            self.entered.set()
            assert self.opened.wait(PATIENCE)
            if self.failure:
                raise self.failure


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)


async def writing(quorum: Quorum, gate: Gate) -> ControllerNode:
    leader = await quorum.active_controller()
    assert await asyncio.to_thread(gate.entered.wait, PATIENCE)
    return leader


async def test_requests_are_answered_and_records_committed_while_one_is_written(gate: Gate) -> None:
    async with Quorum(1, properties=EAGER) as quorum:
        leader = await writing(quorum, gate)
        written = leader.log.snapshots()
        async with await Connection.open(*quorum.addresses[3000]) as connection:
            answer = await connection.send(DescribeClusterRequest(endpoint_type=2))
        assert isinstance(answer, DescribeClusterResponse)
        assert answer.controller_id == 3000
        offset = leader.metadata.offset
        async with asyncio.timeout(PATIENCE):
            await leader.metadata.until(lambda: leader.metadata.offset > offset + 10)
        assert leader.log.snapshots() == written
        gate.opened.set()
        async with asyncio.timeout(PATIENCE):
            await leader.metadata.until(lambda: leader.log.snapshots() != written)
        new = leader.log.snapshots()[-1]
        image = apply_all(EMPTY, leader.log.iter_snapshot(new))
        assert image.features == leader.metadata.image.features


class GrowingLog:
    """The part of a log that a snapshotter uses; records the offsets of its snapshots."""

    def __init__(self) -> None:
        self.size = 0
        self.stored: list[int] = []

    def read(self, offset: int, max_bytes: int, end: int) -> bytes:
        return build_batch([Record(value=b"")], base_offset=offset, partition_leader_epoch=1)

    def store_snapshot(self, id: OffsetAndEpoch, batches: Iterator[bytes]) -> None:
        self.stored.append(id.offset)

    def add_snapshot(self, id: OffsetAndEpoch) -> None:
        """Nothing else counts."""

    def clean(self, max_bytes: int) -> None:
        self.size = 0


async def test_the_next_one_is_due_when_the_log_has_grown_again_since_it_was_cleaned() -> None:
    log, raft = GrowingLog(), Mock(Raft)
    raft.voters_at.return_value, raft.kraft_version_at.return_value = None, 0
    fed: list[RaftEvent] = []
    failures: list[Exception] = []
    tested = snapshotter.Snapshotter(
        cast(DirectoryLog, log),
        raft,
        feed=fed.append,
        fail=failures.append,
        after_bytes=100,
        retention_bytes=1,
    )
    for offset in range(1, 13):
        log.size += 50
        tested.consider(EMPTY, offset, 0)
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
    assert (log.stored, failures) == ([2, 5, 8, 11], [])
    assert [event.id.offset for event in fed if isinstance(event, SnapshotTaken)] == log.stored


async def test_a_disk_that_fails_under_a_snapshot_stops_the_node(gate: Gate) -> None:
    async with Quorum(1, properties=EAGER) as quorum:
        leader = await writing(quorum, gate)
        gate.failure = OSError(28, "No space left on device")
        gate.opened.set()
        with pytest.raises(StorageFailed, match="No space left"):
            async with asyncio.timeout(PATIENCE):
                await leader.failed()
        assert list(quorum.folder.glob("**/*.part")) == []


async def test_a_node_that_ends_gives_up_the_snapshot_it_writes(gate: Gate) -> None:
    async with Quorum(1, properties=EAGER) as quorum:
        leader = await writing(quorum, gate)
        written = leader.log.snapshots()
        ending = asyncio.create_task(leader.kill())
        await asyncio.sleep(0)
        gate.opened.set()
        async with asyncio.timeout(PATIENCE):
            await ending
        assert list(quorum.folder.glob("**/*.part")) == []
        gate.opened.set()
        again = await quorum.start_node(3000)
        assert again.log.snapshots()[: len(written)] == written
