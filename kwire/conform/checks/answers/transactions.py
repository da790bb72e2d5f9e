"""Whole answers about producers and their transactions."""

from __future__ import annotations

import time
from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.producers.producer import settled_init
from kwire.conform.checks.topics.creating import some_broker
from kwire.conform.checks.transactions.transaction import CheckedTransaction, transactional_producer
from kwire.conform.server import Server
from kwire.conform.vocabulary import schema
from kwire.conform.whole_answer import (
    BOTH,
    both,
    expect_in_each_version,
    expect_whole,
    filled,
    fitting,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    DescribeProducersRequest,
    DescribeTransactionsRequest,
    InitProducerIdRequest,
    ListTransactionsRequest,
    TxnOffsetCommitRequest,
    WriteTxnMarkersRequest,
)

SECTION = CheckSection("answers/transactions", "Producers and transactions")

_TIMEOUT_MS = 45_000
_NO_STATE = "Dreaming"


async def _producer(server: Server, **options: Any) -> CheckedTransaction:
    """Return a producer whose epoch is not 0, which would be a field's default."""
    first = await transactional_producer(server, **options)
    return await first.another_epoch(transaction_timeout_ms=_TIMEOUT_MS)


async def _open(server: Server) -> tuple[CheckedTransaction, int]:
    """Return an open transaction with one record in each of two partitions, and their time."""
    topic = await server.topic(2, broker=some_broker(server))  # DescribeProducers asks leaders
    transaction = await _producer(server, partitions=2, topic=topic)
    await transaction.begin(*BOTH)
    began = time.time_ns() // 1_000_000
    for partition in BOTH:
        await transaction.producer.append(0, partition=partition)
    return transaction, began


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
        numbers = {"producer_id": state.producer_id, "producer_epoch": state.producer_epoch}
        expect_whole(answer, numbers, version)


@SECTION.broker_check(2, schema("AddPartitionsToTxnResponse"))
async def _(server: Server) -> None:
    """AddPartitionsToTxn answers each partition once, under its topic, in every version."""
    transaction = await _producer(server, partitions=2)
    name = {"name": transaction.producer.topic}
    topics = [{**name, "partitions": BOTH}]
    own = transaction.numbers()
    request = filled(
        AddPartitionsToTxnRequest,
        transactions=[{**own, "topics": topics}],
        v3_and_below_topics=topics,
        **{f"v3_and_below_{key}": value for key, value in own.items()},
    )
    results = [{**name, "results_by_partition": both()}]
    expected = {
        "results_by_transaction": [{"transactional_id": transaction.id, "topic_results": results}],
        "results_by_topic_v3_and_below": results,
    }
    await expect_in_each_version(transaction.coordinator, request, expected)


@SECTION.broker_check(3, schema("WriteTxnMarkersResponse"))
async def _(server: Server) -> None:
    """WriteTxnMarkers answers each partition of each marker once, in every version."""
    codes = {
        await server.topic(): ErrorCode.NONE,
        server.name(): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    topic = next(iter(codes))
    leader = await server.leader(topic)
    opened = await _producer(server, topic=topic)
    await opened.begin()
    await opened.producer.append(0)
    own = {"producer_id": opened.producer.producer_id}
    topics = [{"name": name, "partition_indexes": (0,)} for name in codes]
    marker = {**own, "producer_epoch": opened.producer.epoch, "topics": topics}
    results = [{"name": name, "partitions": [{"error_code": codes[name]}]} for name in codes]
    request = filled(WriteTxnMarkersRequest, markers=[marker])
    await expect_in_each_version(leader, request, {"markers": [{**own, "topics": results}]})


@SECTION.broker_check(4, schema("TxnOffsetCommitResponse"))
async def _(server: Server) -> None:
    """TxnOffsetCommit answers each partition once, under its topic, in every version."""
    group = server.group()
    coordinator = await server.coordinator(group)
    transaction = await _producer(server, partitions=2)
    name = transaction.producer.topic
    topic = {"name": name, "topic_id": await server.topic_id(name)}
    own = transaction.numbers(group_id=group)
    await transaction.coordinator.ask_coordinator(AddOffsetsToTxnRequest(**own))
    offsets = {**topic, "partitions": both(committed_offset=0)}
    request = filled(TxnOffsetCommitRequest, topics=[offsets], **own)
    expected = {"topics": [{**topic, "partitions": both()}]}
    await expect_in_each_version(coordinator, request, expected)


@SECTION.broker_check(5, schema("DescribeProducersResponse"))
async def _(server: Server) -> None:
    """DescribeProducers answers each partition once, with the producer that writes to it."""
    transaction, began = await _open(server)
    producer = transaction.producer
    state = {
        "producer_id": producer.producer_id,
        "producer_epoch": producer.epoch,
        "last_sequence": 0,
        "last_timestamp": _soon_after(began),
        "coordinator_epoch": -1,
        "current_txn_start_offset": 0,
    }
    asked = {"name": producer.topic, "partition_indexes": BOTH}
    request = filled(DescribeProducersRequest, topics=[asked])
    topic = {"name": producer.topic, "partitions": both(active_producers=[state])}
    await expect_in_each_version(producer.leader, request, {"topics": [topic]})


@SECTION.broker_check(6, schema("DescribeTransactionsResponse"))
async def _(server: Server) -> None:
    """DescribeTransactions describes a transactional id once, with its open transaction."""
    transaction, began = await _open(server)
    topic = {"topic": transaction.producer.topic, "partitions": one_of(BOTH, BOTH[::-1])}
    own = transaction.numbers(
        transaction_state="Ongoing",
        transaction_timeout_ms=_TIMEOUT_MS,
        transaction_start_time_ms=_soon_after(began),
        topics=[topic],
    )
    request = DescribeTransactionsRequest(transactional_ids=(transaction.id,))
    expected = {"transaction_states": [own]}
    await expect_in_each_version(transaction.coordinator, request, expected)


@SECTION.broker_check(7, schema("ListTransactionsResponse"))
async def _(server: Server) -> None:
    """ListTransactions lists an open transaction once, and unknown states, in every version."""
    transaction, _ = await _open(server)
    producer_id = transaction.producer.producer_id
    request = ListTransactionsRequest(
        state_filters=("Ongoing", _NO_STATE), producer_id_filters=(producer_id,)
    )
    own = {
        "transactional_id": transaction.id,
        "producer_id": producer_id,
        "transaction_state": "Ongoing",
    }
    expected = {"unknown_state_filters": (_NO_STATE,), "transaction_states": [own]}
    await expect_in_each_version(transaction.coordinator, request, expected)
