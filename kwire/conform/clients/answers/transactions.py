"""Answers about producer ids and transactions (KIP-98, KIP-890)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kwire.codec.declaration import Response
from kwire.conform.clients.answers.ask import NodeAnswers, NodeAsk
from kwire.conform.clients.answers.groups import committed
from kwire.conform.clients.cluster import MemberGroup, TransactionState
from kwire.conform.whole_answer import filled, mirrored
from kwire.error_codes import ErrorCode
from kwire.messages.a22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.messages.a24_add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from kwire.messages.a25_add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from kwire.messages.a26_end_txn import EndTxnRequest, EndTxnResponse
from kwire.messages.a28_txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse

OFFSETS_TOPIC = "__consumer_offsets"


def init_producer_id(ask: NodeAsk) -> Response:
    """Give a producer id, or the next epoch of a transactional id."""
    cluster, body = ask.cluster, ask.body
    if body.transactional_id is None:
        cluster.producer_ids += 1
        return InitProducerIdResponse(producer_id=cluster.producer_ids, producer_epoch=0)
    known = cluster.transactions.get(body.transactional_id)
    if known is None:
        cluster.producer_ids += 1
        known = TransactionState(cluster.producer_ids, epoch=-1)
        cluster.transactions[body.transactional_id] = known
    elif body.producer_id >= 0 and (
        error := _wrong_producer(known, body.producer_id, body.producer_epoch, ask.version < 4)
    ):
        return InitProducerIdResponse(error_code=error, producer_id=-1, producer_epoch=-1)
    known.epoch += 1
    _end(ask, known, committed=False)
    return InitProducerIdResponse(producer_id=known.producer_id, producer_epoch=known.epoch)


def add_partitions(ask: NodeAsk) -> Response:
    """Add partitions to the transaction under way; v4 and later have several transactions."""
    body = ask.body
    if ask.version < 4:
        topics = body.v3_and_below_topics
        error = _add(ask, body.v3_and_below_transactional_id, body, topics)
        results = _results(topics, error)
        return filled(AddPartitionsToTxnResponse, results_by_topic_v3_and_below=results)
    transactions = []
    for part in body.transactions:
        error = _add(ask, part.transactional_id, part, part.topics)
        name = {"transactional_id": part.transactional_id}
        transactions.append({**name, "topic_results": _results(part.topics, error)})
    return filled(AddPartitionsToTxnResponse, results_by_transaction=transactions)


def _add(
    ask: NodeAsk, name: str, sender: object, topics: Iterable[AddPartitionsToTxnTopic]
) -> ErrorCode:
    state = ask.cluster.transactions.get(name)
    old = "v3_and_below_" if ask.version < 4 else ""
    producer = getattr(sender, f"{old}producer_id"), getattr(sender, f"{old}producer_epoch")
    if state is None or (error := _wrong_producer(state, *producer, ask.version < 2)):
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING if state is None else error
    state.partitions |= {(topic.name, index) for topic in topics for index in topic.partitions}
    return ErrorCode.NONE


def _results(topics: Iterable[AddPartitionsToTxnTopic], error: ErrorCode) -> list[dict[str, Any]]:
    return [
        {
            "name": topic.name,
            "results_by_partition": [
                {"partition_index": index, "partition_error_code": error}
                for index in topic.partitions
            ],
        }
        for topic in topics
    ]


def add_offsets(ask: NodeAsk) -> Response:
    """Let a group's offsets take part."""
    error = _wrong_sender(ask)
    if not error:
        state = ask.cluster.transactions[ask.body.transactional_id]
        state.partitions.add((OFFSETS_TOPIC, 0))
    return AddOffsetsToTxnResponse(error_code=error)


def txn_offset_commit(ask: NodeAsk) -> Response:
    """Take offsets as part of the transaction; the group is not looked at."""
    body = ask.body
    error = _wrong_sender(ask)
    if not error:
        state = ask.cluster.transactions[body.transactional_id]
        for wanted in body.topics:
            topic = ask.cluster.topic_by(wanted.name, wanted.topic_id)
            for part in wanted.partitions if topic else ():
                name = topic.name if topic else ""
                state.offsets[body.group_id, name, part.partition_index] = committed(part)
    return mirrored(TxnOffsetCommitResponse, ask.body, error_code=error)


def end_txn(ask: NodeAsk) -> Response:
    """End the transaction; from v5 on with the epoch of the next one (KIP-890)."""
    body, state = ask.body, ask.cluster.transactions.get(ask.body.transactional_id)
    is_repeated = state and not state.partitions and state.ended[-1:] == [body.committed]
    if ask.version >= 5 and state and is_repeated and body.producer_epoch == state.epoch - 1:
        return EndTxnResponse(producer_id=state.producer_id, producer_epoch=state.epoch)
    if error := _wrong_sender(ask):
        return EndTxnResponse(error_code=error)
    assert state is not None
    if not state.partitions and not is_repeated and ask.version < 5:
        return EndTxnResponse(error_code=ErrorCode.INVALID_TXN_STATE)
    _end(ask, state, committed=ask.body.committed)
    if ask.version < 5:
        return EndTxnResponse()
    state.epoch += 1
    return EndTxnResponse(producer_id=state.producer_id, producer_epoch=state.epoch)


def _end(ask: NodeAsk, state: TransactionState, *, committed: bool) -> None:
    """Write the markers of what is under way, and give a commit's offsets to their groups."""
    if not state.partitions:
        return
    for topic, index in sorted(state.partitions):
        log = ask.cluster.partition(ask.cluster.topics.get(topic), index)
        if log is not None:
            log.mark(state.producer_id, state.epoch, committed)
    for (group, topic, index), offset in state.offsets.items() if committed else ():
        ask.cluster.groups.setdefault(group, MemberGroup()).offsets[topic, index] = offset
    state.ended.append(committed)
    state.partitions.clear()
    state.offsets.clear()


def _wrong_sender(ask: NodeAsk) -> ErrorCode:
    state = ask.cluster.transactions.get(ask.body.transactional_id)
    if state is None:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    return _wrong_producer(state, ask.body.producer_id, ask.body.producer_epoch, ask.version < 2)


def _wrong_producer(
    state: TransactionState, producer_id: int, epoch: int, is_old: bool
) -> ErrorCode:
    """Return the error of another producer. is_old: of a version that has no PRODUCER_FENCED."""
    if producer_id != state.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if epoch == state.epoch:
        return ErrorCode.NONE
    return ErrorCode.INVALID_PRODUCER_EPOCH if is_old else ErrorCode.PRODUCER_FENCED


COORDINATED: NodeAnswers = {
    InitProducerIdRequest: init_producer_id,
    AddPartitionsToTxnRequest: add_partitions,
    AddOffsetsToTxnRequest: add_offsets,
    TxnOffsetCommitRequest: txn_offset_commit,
    EndTxnRequest: end_txn,
}
