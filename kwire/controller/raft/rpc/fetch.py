"""Fetch, API key 1: how the log spreads, and how the leader learns how far (KIP-595, KIP-853
"Fetch").

First the leader's half, then the follower's.
"""

from __future__ import annotations

from kwire.batches import Batch, RecordBatch, read_batches
from kwire.batches.control_records import read_control_record
from kwire.controller.raft.effects import Reply
from kwire.controller.raft.endpoints import PeerNode
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.high_watermark import advance_high_watermark
from kwire.controller.raft.quorum_events import (
    FetchOffsetFell,
    HighWatermarkEstablished,
    LogTruncated,
    SnapshotFetchBegun,
)
from kwire.controller.raft.replica import DelayedFetch, Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.replicated_log import OffsetValidation
from kwire.controller.raft.roles import FetchedSnapshot, Follower, Leader, ReplicaProgress
from kwire.controller.raft.rpc.leader_and_epoch import (
    LeaderAndEpoch,
    ResponseOutcome,
    handle_common_response,
    leader_id_or_sentinel,
    node_endpoints,
    reset_fetch_timeout,
    take_address,
)
from kwire.controller.raft.rpc.partition import (
    MAX_RESPONSE_BYTES,
    only_partition_0,
)
from kwire.controller.raft.rpc.validation import (
    validate_cluster_id,
    validate_leader_only_request,
)
from kwire.error_codes import ErrorCode
from kwire.errors import WireError
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages import a01_fetch as messages
from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchResponse, PartitionData
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC, METADATA_TOPIC_ID

_UNKNOWN = -1
_TOPIC_IDS_SINCE = 13
_ENDPOINTS_SINCE = 17
_HIGH_WATERMARK_SINCE = 18


class CommittedDataLost(WireError):
    """A leader wants committed records undone: one of the quorum has lost its disk. Stop the node,
    and find out which one before any is started again."""


def handle_request(
    replica: Replica, received: RequestReceived, request: FetchRequest, now: int
) -> FetchResponse | None:
    """Answer a follower or an observer (KafkaRaftClient.handleFetchRequest).

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Another partition, or a topic by its name
       (versions up to 12): INVALID_REQUEST.
    2. A negative wait, offset or last fetched epoch, or a last fetched epoch that is greater than
       the current leader epoch of the request: INVALID_REQUEST.

    `_answer` does what is done again when the request has waited:

    3. A lower epoch: FENCED_LEADER_EPOCH; a greater one: UNKNOWN_LEADER_EPOCH; not the leader:
       NOT_LEADER_OR_FOLLOWER; shutting down: BROKER_NOT_AVAILABLE; a fetcher with this leader's
       id: UNKNOWN_SERVER_ERROR. Each names the leader and its address, from which observers learn
       them.
    4. A position that is not in this log: DivergingEpoch; before its start: SnapshotId.
    5. Else everything before the position is on the fetcher's disk, which may commit records.
    6. Records, if there are; a high watermark that the fetcher does not know yet: by its request
       (version 18), or by the last answer to it (before).

    7. If there is neither, return None: the request waits for either, until MaxWaitMs
       (`complete_delayed_fetches`).
    """
    # 1.
    if error := validate_cluster_id(replica, request.cluster_id):
        return FetchResponse(error_code=error)
    requested = _requested_partition(request, received.version)
    if requested is None:
        return FetchResponse(error_code=ErrorCode.INVALID_REQUEST)
    # 2.
    if request.max_wait_ms < 0 or _is_malformed(requested):
        return _response(replica, received, error=ErrorCode.INVALID_REQUEST)
    # 3.–6.
    response = _answer(replica, received, request, requested, now)
    leader, known = replica.leader, _fetchers_high_watermark(replica, received, request)
    if leader is None or request.max_wait_ms == 0 or _has_anything_new(response, known):
        _note_high_watermark(replica, request, response)
        return response
    # 7.
    replica.fetch_purgatory.append(
        DelayedFetch(
            received=received,
            offset=requested.fetch_offset,
            high_watermark=_known_high_watermark(leader),
            epoch=leader.epoch,
            deadline=now + request.max_wait_ms,
        )
    )
    return None


def complete_delayed_fetches(replica: Replica, now: int) -> None:
    """Answer the fetches of step 7 that are due; all of them, if this replica leads no more."""
    waiting, replica.fetch_purgatory = replica.fetch_purgatory, []
    for delayed in waiting:
        leader = replica.leader
        if leader is None or leader.epoch != delayed.epoch:
            error = ErrorCode.NOT_LEADER_OR_FOLLOWER
            _reply(replica, delayed, _response(replica, delayed.received, error=error))
        elif delayed.is_due(replica.log.end.offset, _known_high_watermark(leader), now):
            request = delayed.received.request
            assert isinstance(request, FetchRequest)
            requested = request.topics[0].partitions[0]
            response = _answer(replica, delayed.received, request, requested, now)
            _note_high_watermark(replica, request, response)
            _reply(replica, delayed, response)
        else:
            replica.fetch_purgatory.append(delayed)


def _reply(replica: Replica, delayed: DelayedFetch, response: FetchResponse) -> None:
    replica.emit(Reply(token=delayed.received.token, response=response))


def _requested_partition(request: FetchRequest, version: int) -> FetchPartition | None:
    # Kafka's replicas name the topic by its id, and its controllers know it by nothing else.
    if version < _TOPIC_IDS_SINCE or len(request.topics) != 1:
        return None
    if request.topics[0].topic_id != METADATA_TOPIC_ID:
        return None
    return only_partition_0(request.topics[0].partitions)


def _is_malformed(requested: FetchPartition) -> bool:
    return (
        requested.fetch_offset < 0
        or requested.last_fetched_epoch < 0
        or requested.last_fetched_epoch > requested.current_leader_epoch
    )


def _has_anything_new(response: FetchResponse, known: int) -> bool:
    partition = response.responses[0].partitions[0]
    return bool(
        partition.error_code
        or partition.records
        or partition.diverging_epoch
        or partition.snapshot_id
        or known < partition.high_watermark
    )


def _fetchers_high_watermark(
    replica: Replica, received: RequestReceived, request: FetchRequest
) -> int:
    """Return the high watermark that the fetcher knows; the greatest number if nobody can tell.

    A leader answers with records before they are flushed, here even one without other voters. The
    high watermark may rise before the next request, which then waited for the next record: a broker
    of 3.9 was unfenced half a second late. Java's leader without others commits before it answers.
    """
    # Versions below 18 do not tell it (KIP-1166): the default is the greatest number.
    told = request.topics[0].partitions[0].high_watermark
    progress = _progress(replica, request)
    if received.version >= _HIGH_WATERMARK_SINCE or progress is None:
        return told
    return told if progress.told_high_watermark is None else progress.told_high_watermark


def _note_high_watermark(replica: Replica, request: FetchRequest, response: FetchResponse) -> None:
    progress, partition = _progress(replica, request), response.responses[0].partitions[0]
    if progress is not None and not partition.error_code:
        progress.told_high_watermark = partition.high_watermark


def _progress(replica: Replica, request: FetchRequest) -> ReplicaProgress | None:
    return replica.leader.progress(_fetcher(request)) if replica.leader else None


def _known_high_watermark(leader: Leader) -> int:
    # A new leader tells none until its own epoch has committed: what it knew as a follower may be
    # lower than what the last leader told, and Kafka's brokers die of one that falls.
    return _UNKNOWN if leader.high_watermark is None else leader.high_watermark


def _answer(
    replica: Replica,
    received: RequestReceived,
    request: FetchRequest,
    requested: FetchPartition,
    now: int,
) -> FetchResponse:
    """Do the steps 3 to 6 of `handle_request`."""
    # 3.
    if error := validate_leader_only_request(replica, requested.current_leader_epoch):
        return _response(replica, received, error=error)
    leader = replica.leader
    assert leader is not None
    fetcher = _fetcher(request)
    # Another node with this leader's id: its offset must not count as the leader's own.
    if fetcher.id == leader.local.id:
        return _response(replica, received, error=ErrorCode.UNKNOWN_SERVER_ERROR)
    # 4.
    position = OffsetAndEpoch(offset=requested.fetch_offset, epoch=requested.last_fetched_epoch)
    validation = replica.log.validate_offset_and_epoch(position)
    if not validation.is_valid:
        return _response(replica, received, validation=validation)
    # 5. An id of -1 is a consumer's, who replicates nothing.
    if fetcher.id >= 0:
        offset = requested.fetch_offset
        before = leader.record_fetch(fetcher, offset, replica.log.end.offset, now)
        if before is not None and offset < before:
            replica.emit(FetchOffsetFell(replica=fetcher, before=before, offset=offset))
        if leader.update_check_quorum(fetcher):
            leader.check_quorum_deadline = now + replica.config.check_quorum_timeout_ms
        if leader.is_voter(fetcher):
            advance_high_watermark(replica, leader)
    # 6.
    limit = min(request.max_bytes, MAX_RESPONSE_BYTES)
    return _response(replica, received, records=replica.log.read(requested.fetch_offset, limit))


def _fetcher(request: FetchRequest) -> ReplicaKey:
    id = request.replica_state.replica_id if request.replica_state else request.replica_id
    return ReplicaKey.from_wire(id, request.topics[0].partitions[0].replica_directory_id)


def _response(
    replica: Replica,
    received: RequestReceived,
    *,
    error: int = ErrorCode.NONE,
    validation: OffsetValidation | None = None,
    records: bytes = b"",
) -> FetchResponse:
    leader = replica.leader
    partition = messages.PartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        high_watermark=_UNKNOWN if error or leader is None else _known_high_watermark(leader),
        log_start_offset=replica.log.start_offset,
        records=records,
    )
    _add_tagged_fields(replica, partition, validation)
    topic = messages.FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    endpoint = messages.NodeEndpoint
    return FetchResponse(
        responses=[topic],
        node_endpoints=node_endpoints(replica, received, endpoint, since=_ENDPOINTS_SINCE),
    )


def _add_tagged_fields(
    replica: Replica, partition: PartitionData, validation: OffsetValidation | None
) -> None:
    partition.current_leader = messages.LeaderIdAndEpoch(
        leader_id=leader_id_or_sentinel(replica), leader_epoch=replica.epoch
    )
    if validation and validation.diverging:
        partition.diverging_epoch = messages.EpochEndOffset(
            epoch=validation.diverging.epoch, end_offset=validation.diverging.offset
        )
    if validation and validation.snapshot:
        partition.snapshot_id = messages.SnapshotId(
            end_offset=validation.snapshot.offset, epoch=validation.snapshot.epoch
        )


def build_request(replica: Replica) -> FetchRequest:
    """Make the request for the records that follow this replica's log."""
    config, end = replica.config, replica.log.end
    partition = FetchPartition(
        partition=METADATA_PARTITION,
        current_leader_epoch=replica.epoch,
        fetch_offset=end.offset,
        last_fetched_epoch=end.epoch,
        replica_directory_id=config.directory_id,
        high_watermark=replica.committed,
    )
    topic = messages.FetchTopic(
        topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition]
    )
    return FetchRequest(
        cluster_id=config.cluster_id,
        replica_state=messages.ReplicaState(replica_id=config.node_id),
        max_wait_ms=config.fetch_max_wait_ms,
        max_bytes=config.fetch_max_bytes,
        topics=[topic],
    )


def handle_response(replica: Replica, node: PeerNode, response: FetchResponse, now: int) -> bool:
    """Apply what the leader sends (handleFetchResponse); return False if the peer needs a pause.

    1. Take over epoch and leader, as from every response, and from a bootstrap server the leader's
       address. If the peer names no leader, pause before the next bootstrap server.
    2. DivergingEpoch: truncate, and fetch again.
    3. SnapshotId: fetch that snapshot first.
    4. Else append; a voter, or who may become one, flushes before the next Fetch, since that
       tells the leader that all before its offset is on the disk.
    5. The high watermark is the leader's, as far as this log reaches; it never falls.
    6. A successful fetch keeps the follower from standing for election.
    """
    # 1.
    partition = _answered_partition(response)
    if response.error_code or partition is None:
        return False
    current = partition.current_leader
    seen = LeaderAndEpoch.of_response(
        replica,
        partition.error_code,
        current.leader_epoch if current else -1,
        current.leader_id if current else -1,
        response.node_endpoints,
    )
    if node.is_bootstrap_server:
        take_address(replica.role, seen)
    outcome = handle_common_response(replica, seen, now)
    if outcome is not ResponseOutcome.READ:
        has_leader = outcome is ResponseOutcome.DONE and replica.role.leader_id is not None
        if not has_leader:
            replica.request_manager.back_off_bootstrap_servers(now)
        return has_leader
    if partition.error_code or not isinstance(replica.role, Follower):
        return False
    # 2.–5.
    if not _take_in(replica, replica.role, partition):
        return False
    # 6.
    reset_fetch_timeout(replica, replica.role, now)
    return True


def _answered_partition(response: FetchResponse) -> PartitionData | None:
    if len(response.responses) != 1 or response.responses[0].topic_id != METADATA_TOPIC_ID:
        return None
    return only_partition_0(response.responses[0].partitions)


def _take_in(replica: Replica, follower: Follower, partition: PartitionData) -> bool:
    """Do the steps 2 to 5 of `handle_response`; return False if nothing could be used."""
    if replica.is_installing:
        return False  # an answer to a request from before the snapshot, where the log begins now
    # 2.
    diverging, snapshot = partition.diverging_epoch, partition.snapshot_id
    if diverging and diverging.epoch >= 0:
        _truncate(replica, OffsetAndEpoch(offset=diverging.end_offset, epoch=diverging.epoch))
        return True
    # 3.
    if snapshot:
        id = OffsetAndEpoch(offset=snapshot.end_offset, epoch=snapshot.epoch)
        return _begin_download(replica, follower, id)
    # 4.
    if partition.records and not _append(replica, partition.records):
        return False
    # 5.
    if partition.high_watermark >= 0:
        high_watermark = min(partition.high_watermark, replica.log.end.offset)
        if not follower.has_high_watermark:
            follower.has_high_watermark = True
            event = HighWatermarkEstablished(epoch=follower.epoch, high_watermark=high_watermark)
            replica.emit(event)
        replica.commit(high_watermark)
    return True


def _truncate(replica: Replica, diverging: OffsetAndEpoch) -> None:
    position = replica.log.truncation_for(diverging)
    # A quorum whose majority kept its disks never asks for that: going on would undo what the
    # state machine has applied and answered. A snapshot has what was committed, too: it would stay,
    # and the state machine would go on from it with records of another history.
    snapshots = (id.offset for id in replica.log.stored.snapshots())
    committed = max(replica.committed, *snapshots, 0)
    if position.offset < committed:
        raise CommittedDataLost(
            f"the leader's log diverges at {diverging}, but {committed} is committed"
        )
    end = replica.log.end.offset
    if position.offset < end:
        replica.truncate(position)
        leader = replica.role.leader_id
        replica.emit(LogTruncated(offset=position.offset, end_offset=end, leader_id=leader))


def _begin_download(replica: Replica, follower: Follower, id: OffsetAndEpoch) -> bool:
    is_here = id in replica.log.stored.snapshots()
    # A log has no later epoch than quorum-state: neither may a snapshot.
    if not 0 <= id.epoch <= replica.epoch or id.offset < 0 or is_here:
        return False
    if id.offset < replica.committed:
        raise CommittedDataLost(
            f"the leader sends the snapshot {id}, but {replica.committed} is committed"
        )
    follower.snapshot_download = FetchedSnapshot(id=id)
    replica.emit(SnapshotFetchBegun(snapshot=id, leader_id=follower.leader_id))
    return True


def _append(replica: Replica, data: bytes) -> bool:
    """Append the batches that may follow this log; return False if there is none."""
    size, epoch = _valid_prefix(replica, data)
    if size == 0:
        return False
    replica.append(data[:size], epoch)
    # Brokers never vote: no commit counts on what they have on their disks.
    if replica.is_voter or replica.config.can_become_voter:
        replica.flush()
    return True


def _valid_prefix(replica: Replica, data: bytes) -> tuple[int, int]:
    """Return the bytes of the batches that are whole, sound and fit, and the last one's epoch."""
    size, offset, epoch = 0, replica.log.end.offset, replica.log.end.epoch
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
    # Control records are acted on while they are appended: read them before they are in the log.
    if batch.is_control:
        for record in batch.records():
            read_control_record(record)
    return batch.partition_leader_epoch in epochs and batch.last_offset_delta >= 0
