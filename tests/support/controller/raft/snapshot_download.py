"""A follower that fetches a snapshot of the leader, and the leader's answers."""

from __future__ import annotations

from kwire.controller.raft import OffsetAndEpoch
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a01_fetch import SnapshotId as FetchSnapshotId
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotResponse,
    LeaderIdAndEpoch,
    ResponsePartitionSnapshot,
    ResponseTopicSnapshot,
    SnapshotId,
)
from kwire.messages.metadata_topic import METADATA_TOPIC
from memory_log import MemoryLog
from tests.support.controller.raft.single_replica import SingleReplica, fetch_response, follower
from tests.support.controller.raft.virtual_network import snapshot, voter_set

ID = OffsetAndEpoch(offset=4, epoch=2)
DATA = snapshot(voter_set(1, 2), epoch=2)


def downloading(log: MemoryLog | None = None) -> SingleReplica:
    """A follower that has been told to fetch the snapshot ID."""
    solo = follower(log=log)
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(5, snapshot_id=FetchSnapshotId(end_offset=4, epoch=2)))
    return solo


def part(
    data: bytes, position: int, *, size: int = len(DATA), error: int = 0, offset: int = 4
) -> FetchSnapshotResponse:
    """A piece of the snapshot, or an error."""
    answer = ResponsePartitionSnapshot(
        error_code=error,
        snapshot_id=SnapshotId(end_offset=offset, epoch=2),
        current_leader=LeaderIdAndEpoch(leader_id=2, leader_epoch=5),
        size=size,
        position=position,
        unaligned_records=data,
    )
    return FetchSnapshotResponse(
        topics=[ResponseTopicSnapshot(name=METADATA_TOPIC, partitions=[answer])]
    )
