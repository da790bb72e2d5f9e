"""Answers about producer ids and transactions (KIP-98, KIP-890)."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.codec.declaration import Response
from kwire.conform.clients.answers.ask import NodeAnswers, NodeAsk
from kwire.conform.clients.cluster import TransactionState
from kwire.error_codes import ErrorCode
from kwire.messages.a22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.messages.a24_add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from kwire.messages.a25_add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from kwire.messages.a26_end_txn import EndTxnRequest, EndTxnResponse
from kwire.messages.a28_txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)


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
    known.epoch += 1
    known.partitions.clear()
    return InitProducerIdResponse(producer_id=known.producer_id, producer_epoch=known.epoch)


def add_partitions(ask: NodeAsk) -> Response:
    """Add partitions to the transaction under way; v4 and later have several transactions."""
    body = ask.body
    if ask.version >= 4:
        results = []
        for part in body.transactions:
            error = _add(ask, part.transactional_id, part, part.topics)
            results.append(
                AddPartitionsToTxnResult(
                    transactional_id=part.transactional_id,
                    topic_results=_results(part.topics, error),
                )
            )
        return AddPartitionsToTxnResponse(results_by_transaction=results)
    topics = body.v3_and_below_topics
    error = _add(ask, body.v3_and_below_transactional_id, body, topics)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(topics, error))


def _add(
    ask: NodeAsk, name: str, sender: object, topics: Iterable[AddPartitionsToTxnTopic]
) -> ErrorCode:
    state = ask.cluster.transactions.get(name)
    old = "v3_and_below_" if ask.version < 4 else ""
    producer = getattr(sender, f"{old}producer_id"), getattr(sender, f"{old}producer_epoch")
    if state is None or (error := _wrong_producer(state, *producer)):
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING if state is None else error
    state.partitions |= {(topic.name, index) for topic in topics for index in topic.partitions}
    return ErrorCode.NONE


def _results(
    topics: Iterable[AddPartitionsToTxnTopic], error: ErrorCode
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=error)
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]


def add_offsets(ask: NodeAsk) -> Response:
    """Let a group's offsets take part."""
    return AddOffsetsToTxnResponse(error_code=_wrong_sender(ask))


def txn_offset_commit(ask: NodeAsk) -> Response:
    """Take offsets as part of the transaction; the group is not looked at."""
    error = _wrong_sender(ask)
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=part.partition_index, error_code=error
                    )
                    for part in topic.partitions
                ],
            )
            for topic in ask.body.topics
        ]
    )


def end_txn(ask: NodeAsk) -> Response:
    """End the transaction; from v5 on with the epoch of the next one (KIP-890)."""
    if error := _wrong_sender(ask):
        return EndTxnResponse(error_code=error)
    state = ask.cluster.transactions[ask.body.transactional_id]
    state.ended.append(ask.body.committed)
    state.partitions.clear()
    if ask.version < 5:
        return EndTxnResponse()
    state.epoch += 1
    return EndTxnResponse(producer_id=state.producer_id, producer_epoch=state.epoch)


def _wrong_sender(ask: NodeAsk) -> ErrorCode:
    state = ask.cluster.transactions.get(ask.body.transactional_id)
    if state is None:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    return _wrong_producer(state, ask.body.producer_id, ask.body.producer_epoch)


def _wrong_producer(state: TransactionState, producer_id: int, epoch: int) -> ErrorCode:
    if producer_id != state.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    return ErrorCode.NONE if epoch == state.epoch else ErrorCode.PRODUCER_FENCED


ANSWERS: NodeAnswers = {
    InitProducerIdRequest: init_producer_id,
    AddPartitionsToTxnRequest: add_partitions,
    AddOffsetsToTxnRequest: add_offsets,
    TxnOffsetCommitRequest: txn_offset_commit,
    EndTxnRequest: end_txn,
}
