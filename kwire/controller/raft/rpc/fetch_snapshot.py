"""FetchSnapshot, API key 59: a snapshot in pieces, for who is behind the log's start (KIP-630)."""

from __future__ import annotations

from kwire.controller.raft.effects import InstallSnapshot, WriteSnapshot
from kwire.controller.raft.endpoints import Node
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Follower
from kwire.controller.raft.roles.follower import Download
from kwire.controller.raft.rpc import checks
from kwire.controller.raft.rpc.fetch_answer import succeeded
from kwire.controller.raft.rpc.leadership import (
    News,
    Outcome,
    leader_id,
    learn_from_response,
    node_endpoints,
)
from kwire.controller.raft.rpc.partition import GREATEST_PIECE
from kwire.error_codes import ErrorCode
from kwire.logdir.names import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from kwire.messages import a59_fetch_snapshot as messages
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    PartitionSnapshot,
    ResponsePartitionSnapshot,
)
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC


def handle(
    replica: Replica, received: RequestReceived, request: FetchSnapshotRequest, now: int
) -> FetchSnapshotResponse:
    """Send a piece.

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Not one partition: INVALID_REQUEST. Another one:
       UNKNOWN_TOPIC_OR_PARTITION.
    2. FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER, as for Fetch.
    3. A snapshot that is not here, or the bootstrap snapshot: SNAPSHOT_NOT_FOUND.
    4. A position outside of it: POSITION_OUT_OF_RANGE.
    5. At most MaxBytes from the position. Like a Fetch it shows a leader that the voter lives.
    """
    if error := checks.cluster_id(replica, request.cluster_id):
        return FetchSnapshotResponse(error_code=error)
    if len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
        return FetchSnapshotResponse(error_code=ErrorCode.INVALID_REQUEST)
    name, asked = request.topics[0].name, request.topics[0].partitions[0]
    if (name, asked.partition) != (METADATA_TOPIC, METADATA_PARTITION):
        unknown = ResponsePartitionSnapshot(
            index=asked.partition, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )
        return _response(replica, received, unknown, name)
    if error := checks.for_leader(replica, asked.current_leader_epoch):
        return _response(replica, received, _refusal(error))
    return _response(replica, received, _piece(replica, request, asked, now))


def _refusal(error: int) -> ResponsePartitionSnapshot:
    return ResponsePartitionSnapshot(index=METADATA_PARTITION, error_code=error)


def _piece(
    replica: Replica, request: FetchSnapshotRequest, asked: PartitionSnapshot, now: int
) -> ResponsePartitionSnapshot:
    id = OffsetAndEpoch(offset=asked.snapshot_id.end_offset, epoch=asked.snapshot_id.epoch)
    log = replica.tail.log
    size = log.snapshot_size(id)
    if size is None or id == BOOTSTRAP_SNAPSHOT:
        return _refusal(ErrorCode.SNAPSHOT_NOT_FOUND)
    if not 0 <= asked.position < size:
        return _refusal(ErrorCode.POSITION_OUT_OF_RANGE)
    limit = max(0, min(request.max_bytes, GREATEST_PIECE))
    _note(replica, ReplicaKey.from_wire(request.replica_id, asked.replica_directory_id), now)
    return ResponsePartitionSnapshot(
        index=METADATA_PARTITION,
        snapshot_id=messages.SnapshotId(end_offset=id.offset, epoch=id.epoch),
        size=size,
        position=asked.position,
        unaligned_records=log.read_snapshot(id, asked.position, limit),
    )


def _note(replica: Replica, fetcher: ReplicaKey, now: int) -> None:
    if replica.leader and replica.leader.heard_from(fetcher):
        replica.leader.quorum_deadline = now + replica.config.check_quorum_timeout_ms


def _response(
    replica: Replica,
    received: RequestReceived,
    piece: ResponsePartitionSnapshot,
    topic: str = METADATA_TOPIC,
) -> FetchSnapshotResponse:
    piece.current_leader = messages.LeaderIdAndEpoch(
        leader_id=leader_id(replica), leader_epoch=replica.epoch
    )
    return FetchSnapshotResponse(
        topics=[messages.ResponseTopicSnapshot(name=topic, partitions=[piece])],
        node_endpoints=node_endpoints(replica, received, messages.NodeEndpoint, since=1),
    )


def request(replica: Replica, download: Download) -> FetchSnapshotRequest:
    """Ask for the next piece."""
    config = replica.config
    asked = PartitionSnapshot(
        partition=METADATA_PARTITION,
        current_leader_epoch=replica.epoch,
        snapshot_id=messages.SnapshotId(end_offset=download.id.offset, epoch=download.id.epoch),
        position=download.position,
        replica_directory_id=config.directory_id,
    )
    return FetchSnapshotRequest(
        cluster_id=config.cluster_id,
        replica_id=config.node_id,
        max_bytes=config.fetch_snapshot_max_bytes,
        topics=[messages.TopicSnapshot(name=METADATA_TOPIC, partitions=[asked])],
    )


def answered(replica: Replica, node: Node, response: FetchSnapshotResponse, now: int) -> bool:
    """Take a piece.

    1. Learn epoch and leader, as from every response.
    2. The leader has it no more, or another piece comes than was asked for: begin anew with Fetch.
    3. Write it. When it was the last: install the snapshot in place of the log.
    """
    if response.error_code or len(response.topics) != 1:
        return False
    if len(response.topics[0].partitions) != 1:
        return False
    piece = response.topics[0].partitions[0]
    told = piece.current_leader
    news = News.of_response(
        replica,
        piece.error_code,
        told.leader_epoch if told else -1,
        told.leader_id if told else -1,
        response.node_endpoints,
    )
    outcome = learn_from_response(replica, news, now)
    if outcome is not Outcome.READ:
        return outcome is Outcome.DONE
    if not isinstance(replica.role, Follower):
        return False
    succeeded(replica, replica.role, now)
    return _take(replica, replica.role, piece)


def _take(replica: Replica, follower: Follower, piece: ResponsePartitionSnapshot) -> bool:
    download, id = follower.download, piece.snapshot_id
    if download is None or download.is_whole:
        return True
    is_expected = (id.end_offset, id.epoch, piece.position) == (
        download.id.offset,
        download.id.epoch,
        download.position,
    )
    data = piece.unaligned_records
    if piece.error_code or not is_expected or not data:
        follower.download = None
        return piece.error_code == ErrorCode.SNAPSHOT_NOT_FOUND
    replica.emit(WriteSnapshot(id=download.id, position=download.position, data=data))
    download.position += len(data)
    if download.position >= piece.size:
        download.is_whole = True
        replica.is_installing = True
        replica.emit(InstallSnapshot(id=download.id))
    return True
