"""Fetch, API key 1: how the log spreads, and how the leader learns how far (KIP-595, KIP-853).

This file is the leader's half and the request; `fetch_answer` is the follower's half.
"""

from __future__ import annotations

from kwire.controller.raft.commitment import advance
from kwire.controller.raft.effects import Reply
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.parked_fetch import ParkedFetch
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Leader
from kwire.controller.raft.rpc import checks
from kwire.controller.raft.rpc.leadership import leader_id, node_endpoints
from kwire.controller.raft.rpc.partition import GREATEST_PIECE, only
from kwire.controller.raft.tail import Verdict
from kwire.error_codes import ErrorCode
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages import a01_fetch as messages
from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchResponse
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC, METADATA_TOPIC_ID

_UNKNOWN = -1
_TAGS_SINCE = 12
_TOPIC_IDS_SINCE = 13
_ENDPOINTS_SINCE = 17


def handle(
    replica: Replica, received: RequestReceived, request: FetchRequest, now: int
) -> FetchResponse | None:
    """Answer a follower or an observer, now or when there is something new (None).

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Another partition: INVALID_REQUEST.
    2. A negative wait, offset or last epoch, or a last epoch behind the current: INVALID_REQUEST.
    3. A lower epoch: FENCED_LEADER_EPOCH; a greater one: UNKNOWN_LEADER_EPOCH; not the leader:
       NOT_LEADER_OR_FOLLOWER. Each names the leader and its address: observers learn it so.
    4. A position that is not in this log: DivergingEpoch; before its start: SnapshotId.
    5. Else everything before the position is on the fetcher's disk, which may commit records.
    6. Records, if there are; a high watermark that the fetcher does not know yet (version 18);
       else the request waits for either, until MaxWaitMs.
    """
    if error := checks.cluster_id(replica, request.cluster_id):
        return FetchResponse(error_code=error)
    asked = _partition(request, received.version)
    if asked is None:
        return FetchResponse(error_code=ErrorCode.INVALID_REQUEST)
    if request.max_wait_ms < 0 or _is_malformed(asked):
        return _response(replica, received, error=ErrorCode.INVALID_REQUEST)
    response = _answer(replica, received, request, asked, now)
    leader = replica.leader
    if leader is None or request.max_wait_ms == 0 or _has_news(response, asked):
        return response
    replica.parked.append(
        ParkedFetch(
            received=received,
            offset=asked.fetch_offset,
            high_watermark=_known_high_watermark(leader),
            epoch=leader.epoch,
            deadline=now + request.max_wait_ms,
        )
    )
    return None


def release(replica: Replica, now: int) -> None:
    """Answer the parked fetches that are due; all of them, where this replica leads no more."""
    waiting, replica.parked = replica.parked, []
    for parked in waiting:
        leader = replica.leader
        if leader is None or leader.epoch != parked.epoch:
            error = ErrorCode.NOT_LEADER_OR_FOLLOWER
            _reply(replica, parked, _response(replica, parked.received, error=error))
        elif parked.is_due(replica.tail.end.offset, _known_high_watermark(leader), now):
            request = parked.received.request
            assert isinstance(request, FetchRequest)
            asked = request.topics[0].partitions[0]
            _reply(replica, parked, _answer(replica, parked.received, request, asked, now))
        else:
            replica.parked.append(parked)


def _reply(replica: Replica, parked: ParkedFetch, response: FetchResponse) -> None:
    replica.emit(Reply(token=parked.received.token, response=response))


def _partition(request: FetchRequest, version: int) -> FetchPartition | None:
    if len(request.topics) != 1:
        return None
    (topic,) = request.topics
    by_id = version >= _TOPIC_IDS_SINCE
    is_metadata = topic.topic_id == METADATA_TOPIC_ID if by_id else topic.topic == METADATA_TOPIC
    return only(topic.partitions) if is_metadata else None


def _is_malformed(asked: FetchPartition) -> bool:
    return (
        asked.fetch_offset < 0
        or asked.last_fetched_epoch < 0
        or asked.last_fetched_epoch > asked.current_leader_epoch
    )


def _has_news(response: FetchResponse, asked: FetchPartition) -> bool:
    answer = response.responses[0].partitions[0]
    return bool(
        answer.error_code
        or answer.records
        or answer.diverging_epoch
        or answer.snapshot_id
        or asked.high_watermark < answer.high_watermark
    )


def _known_high_watermark(leader: Leader) -> int:
    return _UNKNOWN if leader.high_watermark is None else leader.high_watermark


def _answer(
    replica: Replica,
    received: RequestReceived,
    request: FetchRequest,
    asked: FetchPartition,
    now: int,
) -> FetchResponse:
    if error := checks.for_leader(replica, asked.current_leader_epoch):
        return _response(replica, received, error=error)
    leader = replica.leader
    assert leader is not None
    fetcher = ReplicaKey.from_wire(_replica_id(request), asked.replica_directory_id)
    if fetcher.id == leader.local.id:
        return _response(replica, received, error=ErrorCode.UNKNOWN_SERVER_ERROR)
    position = OffsetAndEpoch(offset=asked.fetch_offset, epoch=asked.last_fetched_epoch)
    verdict = replica.tail.judge(position)
    if not verdict.is_valid:
        return _response(replica, received, verdict=verdict)
    _note(replica, leader, fetcher, asked.fetch_offset, now)
    limit = min(request.max_bytes, GREATEST_PIECE)
    records = replica.tail.read(asked.fetch_offset, limit)
    return _response(replica, received, records=records)


def _replica_id(request: FetchRequest) -> int:
    return request.replica_state.replica_id if request.replica_state else request.replica_id


def _note(replica: Replica, leader: Leader, fetcher: ReplicaKey, offset: int, now: int) -> None:
    if fetcher.id < 0:
        return
    leader.fetched_by(fetcher, offset, replica.tail.end.offset, now)
    if leader.heard_from(fetcher):
        leader.quorum_deadline = now + replica.config.check_quorum_timeout_ms
    if leader.is_voter(fetcher):
        advance(replica, leader)


def _response(
    replica: Replica,
    received: RequestReceived,
    *,
    error: int = ErrorCode.NONE,
    verdict: Verdict | None = None,
    records: bytes = b"",
) -> FetchResponse:
    """Answers with an error do not tell a high watermark."""
    leader = replica.leader
    answer = messages.PartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        high_watermark=_UNKNOWN if error or leader is None else _known_high_watermark(leader),
        log_start_offset=replica.tail.start_offset,
        aborted_transactions=None,
        records=records,
    )
    if received.version >= _TAGS_SINCE:
        _tell(replica, answer, verdict)
    topic = messages.FetchableTopicResponse(
        topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[answer]
    )
    endpoint = messages.NodeEndpoint
    return FetchResponse(
        responses=[topic],
        node_endpoints=node_endpoints(replica, received, endpoint, since=_ENDPOINTS_SINCE),
    )


def _tell(replica: Replica, answer: messages.PartitionData, verdict: Verdict | None) -> None:
    answer.current_leader = messages.LeaderIdAndEpoch(
        leader_id=leader_id(replica), leader_epoch=replica.epoch
    )
    if verdict and verdict.diverging:
        answer.diverging_epoch = messages.EpochEndOffset(
            epoch=verdict.diverging.epoch, end_offset=verdict.diverging.offset
        )
    if verdict and verdict.snapshot:
        answer.snapshot_id = messages.SnapshotId(
            end_offset=verdict.snapshot.offset, epoch=verdict.snapshot.epoch
        )


def request(replica: Replica) -> FetchRequest:
    """Ask for what follows this replica's log."""
    config, end = replica.config, replica.tail.end
    asked = FetchPartition(
        partition=METADATA_PARTITION,
        current_leader_epoch=replica.epoch,
        fetch_offset=end.offset,
        last_fetched_epoch=end.epoch,
        replica_directory_id=config.directory_id,
        high_watermark=replica.committed,
    )
    topic = messages.FetchTopic(
        topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[asked]
    )
    return FetchRequest(
        cluster_id=config.cluster_id,
        replica_state=messages.ReplicaState(replica_id=config.node_id),
        max_wait_ms=config.fetch_max_wait_ms,
        max_bytes=config.fetch_max_bytes,
        topics=[topic],
    )
