"""FetchSnapshot, API key 59: a snapshot in pieces, for replicas behind the log's start (KIP-630,
KIP-853 "FetchSnapshot")."""

from __future__ import annotations

from kwire.controller.raft.effects import InstallSnapshot, WriteSnapshot
from kwire.controller.raft.endpoints import PeerNode
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.quorum_events import SnapshotFetchAbandoned
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import FetchedSnapshot, Follower
from kwire.controller.raft.rpc.leader_and_epoch import (
    LeaderAndEpoch,
    ResponseOutcome,
    handle_common_response,
    leader_id_or_sentinel,
    node_endpoints,
    reset_fetch_timeout,
)
from kwire.controller.raft.rpc.partition import MAX_RESPONSE_BYTES
from kwire.controller.raft.rpc.validation import (
    validate_cluster_id,
    validate_leader_only_request,
)
from kwire.error_codes import ErrorCode, name
from kwire.logdir.names import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from kwire.messages import a59_fetch_snapshot as messages
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    PartitionSnapshot,
    ResponsePartitionSnapshot,
)
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC


def handle_request(
    replica: Replica, received: RequestReceived, request: FetchSnapshotRequest, now: int
) -> FetchSnapshotResponse:
    """Send a piece of a snapshot (KafkaRaftClient.handleFetchSnapshotRequest).

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Not one partition: INVALID_REQUEST. Another one:
       UNKNOWN_TOPIC_OR_PARTITION.
    2. FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER, BROKER_NOT_AVAILABLE, as
       for Fetch.
    3. A snapshot that is not here, or the bootstrap snapshot: SNAPSHOT_NOT_FOUND.
    4. A position outside of it: POSITION_OUT_OF_RANGE.
    5. Like a Fetch, a FetchSnapshot shows a leader that the voter lives.
    6. At most MaxBytes from the position.
    """
    # 1.
    if error := validate_cluster_id(replica, request.cluster_id):
        return FetchSnapshotResponse(error_code=error)
    if len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
        return FetchSnapshotResponse(error_code=ErrorCode.INVALID_REQUEST)
    topic, requested = request.topics[0].name, request.topics[0].partitions[0]
    if (topic, requested.partition) != (METADATA_TOPIC, METADATA_PARTITION):
        unknown = ResponsePartitionSnapshot(
            index=requested.partition, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )
        return _response(replica, received, unknown, topic)
    # 2.
    if error := validate_leader_only_request(replica, requested.current_leader_epoch):
        return _response(replica, received, _refusal(error))
    # 3. Every replica was formatted with a bootstrap snapshot of its own, or with none.
    id = OffsetAndEpoch(offset=requested.snapshot_id.end_offset, epoch=requested.snapshot_id.epoch)
    log = replica.log.stored
    size = log.snapshot_size(id)
    if size is None or id == BOOTSTRAP_SNAPSHOT:
        return _response(replica, received, _refusal(ErrorCode.SNAPSHOT_NOT_FOUND))
    # 4.
    if not 0 <= requested.position < size:
        return _response(replica, received, _refusal(ErrorCode.POSITION_OUT_OF_RANGE))
    # 5.
    fetcher = ReplicaKey.from_wire(request.replica_id, requested.replica_directory_id)
    if replica.leader and replica.leader.update_check_quorum(fetcher):
        replica.leader.check_quorum_deadline = now + replica.config.check_quorum_timeout_ms
    # 6.
    limit = max(0, min(request.max_bytes, MAX_RESPONSE_BYTES))
    piece = ResponsePartitionSnapshot(
        index=METADATA_PARTITION,
        snapshot_id=messages.SnapshotId(end_offset=id.offset, epoch=id.epoch),
        size=size,
        position=requested.position,
        unaligned_records=log.read_snapshot(id, requested.position, limit),
    )
    return _response(replica, received, piece)


def _refusal(error: int) -> ResponsePartitionSnapshot:
    return ResponsePartitionSnapshot(index=METADATA_PARTITION, error_code=error)


def _response(
    replica: Replica,
    received: RequestReceived,
    piece: ResponsePartitionSnapshot,
    topic: str = METADATA_TOPIC,
) -> FetchSnapshotResponse:
    piece.current_leader = messages.LeaderIdAndEpoch(
        leader_id=leader_id_or_sentinel(replica), leader_epoch=replica.epoch
    )
    return FetchSnapshotResponse(
        topics=[messages.ResponseTopicSnapshot(name=topic, partitions=[piece])],
        node_endpoints=node_endpoints(replica, received, messages.NodeEndpoint, since=1),
    )


def build_request(replica: Replica, download: FetchedSnapshot) -> FetchSnapshotRequest:
    """Make the request for the next piece."""
    config = replica.config
    partition = PartitionSnapshot(
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
        topics=[messages.TopicSnapshot(name=METADATA_TOPIC, partitions=[partition])],
    )


def handle_response(
    replica: Replica, node: PeerNode, response: FetchSnapshotResponse, now: int
) -> bool:
    """Write a piece (handleFetchSnapshotResponse); return False if the peer needs a pause.

    1. Take over epoch and leader, as from every response.
    2. The leader lives, as after a Fetch.
    3. The leader has the snapshot no more, or another piece comes than was asked for: begin anew
       with Fetch.
    4. Write the piece.
    5. When it was the last: install the snapshot in place of the log.
    """
    # 1.
    if response.error_code or len(response.topics) != 1:
        return False
    if len(response.topics[0].partitions) != 1:
        return False
    piece = response.topics[0].partitions[0]
    current = piece.current_leader
    seen = LeaderAndEpoch.of_response(
        replica,
        piece.error_code,
        current.leader_epoch if current else -1,
        current.leader_id if current else -1,
        response.node_endpoints,
    )
    outcome = handle_common_response(replica, seen, now)
    if outcome is not ResponseOutcome.READ:
        return outcome is ResponseOutcome.DONE
    follower = replica.role
    if not isinstance(follower, Follower):
        return False
    # 2.
    reset_fetch_timeout(replica, follower, now)
    # 3.
    download = follower.snapshot_download
    if download is None or download.is_complete:
        return True
    if piece.error_code or not _is_next_piece(piece, download):
        follower.snapshot_download = None
        event = SnapshotFetchAbandoned(
            snapshot=download.id, leader_id=follower.leader_id, error=name(piece.error_code)
        )
        replica.emit(event)
        return piece.error_code == ErrorCode.SNAPSHOT_NOT_FOUND
    # 4.
    data = piece.unaligned_records
    replica.emit(WriteSnapshot(id=download.id, position=download.position, data=data))
    download.position += len(data)
    # 5.
    if download.position >= piece.size:
        download.is_complete = True
        replica.is_installing = True
        replica.emit(InstallSnapshot(id=download.id))
    return True


def _is_next_piece(piece: ResponsePartitionSnapshot, download: FetchedSnapshot) -> bool:
    id = piece.snapshot_id
    is_expected = (id.end_offset, id.epoch, piece.position) == (
        download.id.offset,
        download.id.epoch,
        download.position,
    )
    # An empty piece would be asked for again and again.
    return is_expected and bool(piece.unaligned_records)
