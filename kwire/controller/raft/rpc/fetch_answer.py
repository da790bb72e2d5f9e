"""What a follower does with the answer to its Fetch."""

from __future__ import annotations

from kwire.batches import Batch, RecordBatch, read_batches
from kwire.batches.control_records import read_control_record
from kwire.controller.raft.endpoints import Node
from kwire.controller.raft.errors import CommittedDataLost
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import Follower
from kwire.controller.raft.roles.follower import Download
from kwire.controller.raft.rpc.leadership import News, Outcome, learn_from_response
from kwire.controller.raft.rpc.partition import only
from kwire.errors import WireError
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages.a01_fetch import FetchResponse, PartitionData
from kwire.messages.metadata_topic import METADATA_TOPIC_ID


def answered(replica: Replica, node: Node, response: FetchResponse, now: int) -> bool:
    """Take what the leader says.

    1. Learn epoch and leader, as from every response.
    2. DivergingEpoch: truncate, and fetch again.
    3. SnapshotId: fetch that snapshot first.
    4. Else append; a voter, or who may become one, flushes before the next Fetch, since that
       tells the leader that all before its offset is on the disk.
    5. The high watermark is the leader's, as far as this log reaches; it never falls.
    6. A successful fetch keeps the follower from standing for election.
    """
    answer = _partition(response)
    if response.error_code or answer is None:
        return False
    told = answer.current_leader
    news = News.of_response(
        replica,
        answer.error_code,
        told.leader_epoch if told else -1,
        told.leader_id if told else -1,
        response.node_endpoints,
    )
    outcome = learn_from_response(replica, news, now)
    if outcome is not Outcome.READ:
        has_leader = outcome is Outcome.DONE and replica.role.leader_id is not None
        if not has_leader:
            replica.connections.no_leader_named(now)
        return has_leader
    if answer.error_code or not isinstance(replica.role, Follower):
        return False
    if not _take(replica, replica.role, answer):
        return False
    succeeded(replica, replica.role, now)
    return True


def succeeded(replica: Replica, follower: Follower, now: int) -> None:
    """The leader is there: wait for it once more."""
    follower.fetch_deadline = now + replica.random_fetch_timeout()
    follower.has_fetched = True
    replica.connections.leader_answered()


def _partition(response: FetchResponse) -> PartitionData | None:
    if len(response.responses) != 1 or response.responses[0].topic_id != METADATA_TOPIC_ID:
        return None
    return only(response.responses[0].partitions)


def _take(replica: Replica, follower: Follower, answer: PartitionData) -> bool:
    if replica.is_installing:
        return False  # asked for before the snapshot, which the log begins behind
    diverging, snapshot = answer.diverging_epoch, answer.snapshot_id
    if diverging and diverging.epoch >= 0:
        _truncate(replica, OffsetAndEpoch(offset=diverging.end_offset, epoch=diverging.epoch))
        return True
    if snapshot:
        id = OffsetAndEpoch(offset=snapshot.end_offset, epoch=snapshot.epoch)
        return _download(replica, follower, id)
    if answer.records and not _append(replica, answer.records):
        return False
    if answer.high_watermark >= 0:
        replica.commit(min(answer.high_watermark, replica.tail.end.offset))
    return True


def _truncate(replica: Replica, diverging: OffsetAndEpoch) -> None:
    position = replica.tail.truncation_for(diverging)
    if position.offset < replica.committed:
        raise CommittedDataLost(
            f"the leader's log diverges at {diverging}, but {replica.committed} is committed"
        )
    if position.offset < replica.tail.end.offset:
        replica.truncate(position)


def _download(replica: Replica, follower: Follower, id: OffsetAndEpoch) -> bool:
    is_here = id in replica.tail.log.snapshots()
    if id.epoch < 0 or id.offset < 0 or is_here:
        return False
    if id.offset < replica.committed:
        raise CommittedDataLost(
            f"the leader sends the snapshot {id}, but {replica.committed} is committed"
        )
    follower.download = Download(id=id)
    return True


def _append(replica: Replica, data: bytes) -> bool:
    """Append the batches that may follow this log; false where there is none."""
    size, epoch = _good_prefix(replica, data)
    if size == 0:
        return False
    replica.append(data[:size], epoch)
    if replica.is_voter or replica.config.can_become_voter:
        replica.flush()
    return True


def _good_prefix(replica: Replica, data: bytes) -> tuple[int, int]:
    """Bytes of the batches that are whole and sound and fit, and the epoch of the last."""
    size, offset, epoch = 0, replica.tail.end.offset, replica.tail.end.epoch
    try:
        for batch in read_batches(data):
            if not _fits(batch, offset, range(epoch, replica.epoch + 1)):
                break
            assert isinstance(batch, RecordBatch)
            offset, epoch = batch.last_offset + 1, batch.partition_leader_epoch
            size += batch.size
    except WireError:
        pass  # what comes before the broken batch is good; the rest is fetched again
    return size, epoch


def _fits(batch: Batch, offset: int, epochs: range) -> bool:
    if not isinstance(batch, RecordBatch) or batch.base_offset != offset:
        return False
    if batch.is_control:
        for record in batch.records():
            read_control_record(record)
    return batch.partition_leader_epoch in epochs and batch.last_offset_delta >= 0
