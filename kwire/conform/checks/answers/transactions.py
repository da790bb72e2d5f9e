"""Whole answers about producers and their transactions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.producers.producer import settled_init
from kwire.conform.checks.topics.creating import some_broker
from kwire.conform.checks.transactions.transaction import (
    CheckedTransaction,
    transactional_producer,
)
from kwire.conform.server import Server
from kwire.conform.vocabulary import schema
from kwire.conform.whole_answer import (
    expect_in_each_version,
    expect_whole,
    fitting,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import a24_add_partitions_to_txn as added
from kwire.messages import a27_write_txn_markers as marked
from kwire.messages import a28_txn_offset_commit as committed
from kwire.messages import a61_describe_producers as producers
from kwire.messages import a65_describe_transactions as described
from kwire.messages import a66_list_transactions as listed
from kwire.messages.a22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.messages.a25_add_offsets_to_txn import AddOffsetsToTxnRequest

SECTION = CheckSection("answers/transactions", "Producers and transactions")

_BOTH = (0, 1)
_TIMEOUT_MS = 60_000
_NO_STATE = "Dreaming"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OpenTransaction:
    """An open transaction with one record in each of two partitions. began: their time."""

    transaction: CheckedTransaction
    began: int

    @property
    def topic(self) -> str:
        """The topic's name."""
        return self.transaction.producer.topic


async def _open(server: Server) -> _OpenTransaction:
    topic = await server.topic(2, broker=some_broker(server))  # DescribeProducers asks leaders
    transaction = await transactional_producer(server, partitions=2, topic=topic)
    await transaction.begin(*_BOTH)
    began = time.time_ns() // 1_000_000
    for partition in _BOTH:
        await transaction.producer.append(0, partition=partition)
    return _OpenTransaction(transaction=transaction, began=began)


def _soon_after(began: int) -> Any:
    """Return a value for a time: the clock is the check's own, or that of a server like it."""
    text = f"a time within {_TIMEOUT_MS} ms of {began}"
    return fitting(text, lambda value: abs(value - began) < _TIMEOUT_MS)


@SECTION.broker_check(1, schema("InitProducerIdResponse"))
async def _(server: Server) -> None:
    """InitProducerId answers with the id and the epoch that the transactional id has then."""
    transaction = await transactional_producer(server)
    for version in transaction.coordinator.offered(InitProducerIdRequest):
        answer = await settled_init(
            server, transaction.coordinator, version, transactional_id=transaction.id
        )
        state = await transaction.describe()
        expected = InitProducerIdResponse(
            producer_id=state.producer_id, producer_epoch=state.producer_epoch
        )
        expect_whole(answer, expected, version)


@SECTION.broker_check(2, schema("AddPartitionsToTxnResponse"))
async def _(server: Server) -> None:
    """AddPartitionsToTxn answers each partition once, under its topic, in every version."""
    transaction = await transactional_producer(server, partitions=2)
    name = transaction.producer.topic
    topics = [added.AddPartitionsToTxnTopic(name=name, partitions=_BOTH)]
    own = transaction.numbers()
    request = added.AddPartitionsToTxnRequest(
        transactions=[added.AddPartitionsToTxnTransaction(**own, topics=topics)],
        v3_and_below_topics=topics,
        **{f"v3_and_below_{key}": value for key, value in own.items()},
    )
    parts = [added.AddPartitionsToTxnPartitionResult(partition_index=index) for index in _BOTH]
    results = [added.AddPartitionsToTxnTopicResult(name=name, results_by_partition=parts)]
    result = added.AddPartitionsToTxnResult(transactional_id=transaction.id, topic_results=results)
    expected = added.AddPartitionsToTxnResponse(
        results_by_transaction=[result], results_by_topic_v3_and_below=results
    )
    await expect_in_each_version(transaction.coordinator, request, expected)


@SECTION.broker_check(3, schema("WriteTxnMarkersResponse"))
async def _(server: Server) -> None:
    """WriteTxnMarkers answers each partition of each marker once, in every version."""
    names = (await server.topic(), server.name())
    leader = await server.leader(names[0])
    opened = await transactional_producer(server, topic=names[0])
    await opened.begin()
    await opened.producer.append(0)
    codes = (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    numbers: dict[str, Any] = {
        "producer_id": opened.producer.producer_id,
        "producer_epoch": opened.producer.epoch,
    }
    topics = [marked.WritableTxnMarkerTopic(name=name, partition_indexes=(0,)) for name in names]
    request = marked.WriteTxnMarkersRequest(
        markers=[marked.WritableTxnMarker(**numbers, topics=topics)]
    )
    results = [
        marked.WritableTxnMarkerTopicResult(
            name=name,
            partitions=[marked.WritableTxnMarkerPartitionResult(error_code=code)],
        )
        for name, code in zip(names, codes, strict=True)
    ]
    result = marked.WritableTxnMarkerResult(producer_id=numbers["producer_id"], topics=results)
    expected = marked.WriteTxnMarkersResponse(markers=[result])
    await expect_in_each_version(leader, request, expected)


@SECTION.broker_check(4, schema("TxnOffsetCommitResponse"))
async def _(server: Server) -> None:
    """TxnOffsetCommit answers each partition once, under its topic, in every version."""
    group = server.group()
    coordinator = await server.coordinator(group)
    transaction = await transactional_producer(server, partitions=2)
    name = transaction.producer.topic
    topic_id = await server.topic_id(name)
    own = transaction.numbers() | {"group_id": group}
    await transaction.coordinator.ask_coordinator(AddOffsetsToTxnRequest(**own))
    parts = [
        committed.TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=0)
        for index in _BOTH
    ]
    topic = committed.TxnOffsetCommitRequestTopic(name=name, topic_id=topic_id, partitions=parts)
    results = [committed.TxnOffsetCommitResponsePartition(partition_index=index) for index in _BOTH]
    answered = committed.TxnOffsetCommitResponseTopic(
        name=name, topic_id=topic_id, partitions=results
    )
    request = committed.TxnOffsetCommitRequest(topics=[topic], **own)
    expected = committed.TxnOffsetCommitResponse(topics=[answered])
    await expect_in_each_version(coordinator, request, expected)


@SECTION.broker_check(5, schema("DescribeProducersResponse"))
async def _(server: Server) -> None:
    """DescribeProducers answers each partition once, with the producer that writes to it."""
    opened = await _open(server)
    producer = opened.transaction.producer
    state = producers.ProducerState(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        last_sequence=0,
        last_timestamp=_soon_after(opened.began),
        coordinator_epoch=-1,
        current_txn_start_offset=0,
    )
    parts = [
        producers.PartitionResponse(partition_index=index, active_producers=[state])
        for index in _BOTH
    ]
    topic = producers.TopicRequest(name=opened.topic, partition_indexes=_BOTH)
    answered = producers.TopicResponse(name=opened.topic, partitions=parts)
    request = producers.DescribeProducersRequest(topics=[topic])
    expected = producers.DescribeProducersResponse(topics=[answered])
    await expect_in_each_version(producer.leader, request, expected)


@SECTION.broker_check(6, schema("DescribeTransactionsResponse"))
async def _(server: Server) -> None:
    """DescribeTransactions describes a transactional id once, with its open transaction."""
    opened = await _open(server)
    own = described.TransactionState(
        **opened.transaction.numbers(),
        transaction_state="Ongoing",
        transaction_timeout_ms=_TIMEOUT_MS,
        transaction_start_time_ms=_soon_after(opened.began),
        topics=[described.TopicData(topic=opened.topic, partitions=one_of(_BOTH, _BOTH[::-1]))],
    )
    request = described.DescribeTransactionsRequest(transactional_ids=(opened.transaction.id,))
    expected = described.DescribeTransactionsResponse(transaction_states=[own])
    await expect_in_each_version(opened.transaction.coordinator, request, expected)


@SECTION.broker_check(7, schema("ListTransactionsResponse"))
async def _(server: Server) -> None:
    """ListTransactions lists an open transaction once, and unknown states, in every version."""
    opened = await _open(server)
    producer = opened.transaction.producer
    request = listed.ListTransactionsRequest(
        state_filters=("Ongoing", _NO_STATE), producer_id_filters=(producer.producer_id,)
    )
    own = listed.TransactionState(
        transactional_id=opened.transaction.id,
        producer_id=producer.producer_id,
        transaction_state="Ongoing",
    )
    expected = listed.ListTransactionsResponse(
        unknown_state_filters=(_NO_STATE,), transaction_states=[own]
    )
    await expect_in_each_version(opened.transaction.coordinator, request, expected)
