"""Answers about records: Produce, Fetch with its sessions (KIP-227), offsets, epochs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kwire.batches.current import RecordBatch
from kwire.codec.declaration import Response
from kwire.conform.clients.answers.ask import NodeAnswers, NodeAsk, missing
from kwire.conform.clients.cluster import (
    FetchedParts,
    FetchSession,
    PartitionLog,
    RefusedAppend,
    checked_batch,
)
from kwire.conform.whole_answer import filled, mirrored
from kwire.error_codes import ErrorCode
from kwire.messages import (
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    ProduceRequest,
    ProduceResponse,
)

_LATEST = -1
_LONGEST_WAIT = 1.0
"""Seconds that an empty Fetch takes at most, so that a case ends soon."""


def wrong_epoch(ask: NodeAsk, log: PartitionLog, epoch: int = -1) -> ErrorCode:
    """Return the error of a node that does not lead, or of another epoch (KIP-320)."""
    if log.leader != ask.node_id:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if epoch in (-1, log.leader_epoch):
        return ErrorCode.NONE
    older = epoch < log.leader_epoch
    return ErrorCode.FENCED_LEADER_EPOCH if older else ErrorCode.UNKNOWN_LEADER_EPOCH


def produce(ask: NodeAsk) -> Response:
    """Append batches, in the order of the request."""
    ask.no_answer = ask.body.acks == 0
    wrong_acks = ask.body.acks not in (-1, 0, 1)
    responses = []
    for data in ask.body.topic_data:
        topic = ask.cluster.topic_by(data.name, data.topic_id)
        parts = []
        for part in data.partition_data:
            log = ask.cluster.partition(topic, part.index)
            if log is None or topic is None:
                result: dict[str, Any] = {"error_code": missing(by_id=ask.version >= 13)}
            elif wrong_acks:
                result = {"error_code": ErrorCode.INVALID_REQUIRED_ACKS}
            else:
                result = _append(ask, (topic.name, part.index), log, part.records)
            parts.append({"index": part.index, "base_offset": -1, **result})
        named = {"name": data.name, "topic_id": data.topic_id}
        responses.append({**named, "partition_responses": parts})
    return filled(ProduceResponse, responses=responses)


def _append(
    ask: NodeAsk, partition: tuple[str, int], log: PartitionLog, data: bytes | None
) -> dict[str, Any]:
    if log.leader != ask.node_id:
        return {"error_code": ErrorCode.NOT_LEADER_OR_FOLLOWER, "current_leader": log.led()}
    try:
        batch = checked_batch(data or b"")
        if batch.is_transactional:
            _take_part(ask, partition, batch)
        return {"base_offset": log.append(batch)}
    except RefusedAppend as refusal:
        return {"error_code": refusal.code}


def _take_part(ask: NodeAsk, partition: tuple[str, int], batch: RecordBatch) -> None:
    """Demand that a partition is part of the transaction; from v12 on it comes to be (KIP-890).

    Raises RefusedAppend.
    """
    name = ask.body.transactional_id or ""
    state = ask.cluster.transactions.get(name)
    if state is None or state.producer_id != batch.producer_id:
        raise RefusedAppend(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if batch.producer_epoch != state.epoch:
        raise RefusedAppend(ErrorCode.INVALID_PRODUCER_EPOCH)
    if partition not in state.partitions and ask.version < 12:
        raise RefusedAppend(ErrorCode.INVALID_TXN_STATE)
    state.partitions.add(partition)


def fetch(ask: NodeAsk) -> Response:
    """Return records; of an incremental session only partitions that have news.

    1. The session: a new one, one more of a known one, or an error.
    2. What each of its partitions has at its offset.
    3. Without news the answer waits.
    """
    body, sessions = ask.body, ask.cluster.sessions
    # 1.
    is_incremental = body.session_epoch > 0
    session = sessions.get(body.session_id, FetchSession())
    if is_incremental and body.session_id not in sessions:
        return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    if is_incremental and body.session_epoch != session.epoch:
        return FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
    wanted = _asked(ask, session.parts if is_incremental else {})
    session_id = body.session_id if is_incremental else 0
    if body.session_id and not is_incremental:
        sessions.pop(body.session_id, None)
    if body.session_epoch == 0 and ask.version >= 7:
        session_id = ask.cluster.next_session
        ask.cluster.next_session += 1
    if session_id:
        sessions[session_id] = FetchSession(body.session_epoch + 1, wanted)
    # 2.
    parts = {key: _read(ask, key, *place) for key, place in wanted.items()}
    news = {key: part for key, part in parts.items() if part["records"] or part["error_code"]}
    # 3.
    if not news:
        ask.wait = min(body.max_wait_ms / 1000, _LONGEST_WAIT)
    responses = _by_topic(ask, news if is_incremental else parts)
    return filled(FetchResponse, session_id=session_id, responses=responses)


def _asked(ask: NodeAsk, known: FetchedParts) -> FetchedParts:
    """Return a session's partitions with what a request adds, changes and forgets."""
    wanted = dict(known)
    for topic in ask.body.topics:
        found = ask.cluster.topic_by(topic.topic, topic.topic_id)
        name = found.name if found else str(topic.topic_id)
        for part in topic.partitions:
            wanted[name, part.partition] = (
                part.fetch_offset,
                part.current_leader_epoch,
                part.partition_max_bytes,
            )
    for gone in ask.body.forgotten_topics_data:
        found = ask.cluster.topic_by(gone.topic, gone.topic_id)
        for index in gone.partitions:
            wanted.pop((found.name if found else "", index), None)
    return wanted


def _read(ask: NodeAsk, key: tuple[str, int], offset: int, epoch: int, most: int) -> dict[str, Any]:
    name, index = key
    log = ask.cluster.partition(ask.cluster.topics.get(name), index)
    result = {"partition_index": index, "high_watermark": -1, "records": b""}
    if log is None:
        return {**result, "error_code": missing(by_id=ask.version >= 13)}
    code = wrong_epoch(ask, log, epoch)
    if not code and not log.start <= offset <= log.end:
        code = ErrorCode.OFFSET_OUT_OF_RANGE
    if code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
        result["current_leader"] = log.led()
    if not code:
        result |= {"high_watermark": log.end, "last_stable_offset": log.end}
        result |= {"log_start_offset": log.start, "records": log.read(offset, most)}
    return {**result, "error_code": code}


def _by_topic(ask: NodeAsk, parts: dict[tuple[str, int], dict[str, Any]]) -> list[dict[str, Any]]:
    topics: dict[str, dict[str, Any]] = {}
    for (name, _), part in parts.items():
        topic = ask.cluster.topics.get(name)
        own = {"topic": name, "topic_id": topic.id if topic else UUID(int=0), "partitions": []}
        topics.setdefault(name, own)["partitions"].append(part)
    return list(topics.values())


def list_offsets(ask: NodeAsk) -> Response:
    """Return the first offset, the end, or for a time the first offset."""
    answer = mirrored(ListOffsetsResponse, ask.body, timestamp=-1)
    for wanted, topic in zip(ask.body.topics, answer.topics, strict=True):
        for part, result in zip(wanted.partitions, topic.partitions, strict=True):
            log = ask.cluster.partition(ask.cluster.topic(wanted.name), part.partition_index)
            result.error_code = _error_of(ask, log, part)
            if log is not None and not result.error_code:
                result.offset = log.end if part.timestamp == _LATEST else log.start
                result.leader_epoch = log.leader_epoch
    return answer


def _error_of(ask: NodeAsk, log: PartitionLog | None, part: Any) -> ErrorCode:
    if log is None:
        return missing(by_id=False)
    return wrong_epoch(ask, log, part.current_leader_epoch)


def offset_for_leader_epoch(ask: NodeAsk) -> Response:
    """Return the end of the log as the end of the epoch: nothing is ever truncated."""
    answer = mirrored(OffsetForLeaderEpochResponse, ask.body, leader_epoch=-1)
    for wanted, topic in zip(ask.body.topics, answer.topics, strict=True):
        for part, result in zip(wanted.partitions, topic.partitions, strict=True):
            log = ask.cluster.partition(ask.cluster.topic(wanted.topic), part.partition)
            result.error_code = _error_of(ask, log, part)
            if log is not None and not result.error_code:
                result.leader_epoch, result.end_offset = part.leader_epoch, log.end
    return answer


ANSWERS: NodeAnswers = {
    ProduceRequest: produce,
    FetchRequest: fetch,
    ListOffsetsRequest: list_offsets,
    OffsetForLeaderEpochRequest: offset_for_leader_epoch,
}
