"""Batches of transactions: what a leader takes and what it refuses (KIP-98, KIP-890)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kwire.conform.check import AskServer, CheckSection
from kwire.conform.checks.transactions.transaction import (
    ended_transaction,
    transactional_producer,
    written_transaction,
)
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a61_describe_producers import DescribeProducersRequest, TopicRequest

SECTION = CheckSection("transactions/produce", "Batches of transactions")

_VERIFICATION = kip(890, "Proposed Changes")


def _outside(number: int) -> Callable[[AskServer], AskServer]:
    """Return a decorator of a batch that no transaction has, which a broker may be set to take."""
    return SECTION.broker_refuses(
        number,
        _VERIFICATION,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.TRANSACTION_ABORTABLE,
        differs=(ErrorCode.NONE,),  # transaction.partition.verification.enable is false
    )


@SECTION.broker_check(1, kip(98, "AddPartitionsToTxnRequest"))
async def _(server: Server) -> None:
    """A batch for a partition that is in the transaction is appended."""
    transaction = await transactional_producer(server)
    await transaction.begin()
    expect_equal("offset", await transaction.producer.append(0), 0)


@_outside(2)
async def _(server: Server) -> Any:
    """A transactional batch outside a transaction gets INVALID_TXN_STATE or
    TRANSACTION_ABORTABLE."""
    transaction = await transactional_producer(server)
    return await transaction.producer.produce(0)


@_outside(3)
async def _(server: Server) -> Any:
    """A transactional batch for a partition that was not added gets INVALID_TXN_STATE or
    TRANSACTION_ABORTABLE."""
    transaction = await transactional_producer(server, partitions=2)
    await transaction.begin(0)
    return await transaction.producer.produce(0, partition=1)


@_outside(4)
async def _(server: Server) -> Any:
    """A late batch, after its transaction ended, gets INVALID_TXN_STATE or
    TRANSACTION_ABORTABLE."""
    transaction = await ended_transaction(server)
    return await transaction.producer.produce(1)


@SECTION.broker_refuses(5, kip(588, "Proposed Changes"), ErrorCode.INVALID_PRODUCER_EPOCH)
async def _(server: Server) -> Any:
    """A batch of a fenced producer gets"""
    older = await written_transaction(server)
    newer = await older.another_epoch()
    await newer.begin()
    return await older.producer.produce(1)


@SECTION.broker_refuses(6, kafka("ProducerAppendInfo.appendDataBatch"), ErrorCode.INVALID_TXN_STATE)
async def _(server: Server) -> Any:
    """A plain batch of a producer with an open transaction in the partition gets"""
    transaction = await written_transaction(server)
    return await transaction.producer.produce(1, is_transactional=False)


@SECTION.broker_refuses(
    7,
    kafka("KafkaApis.handleProduceRequest"),
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    differs=(
        ErrorCode.NONE,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.INVALID_RECORD,
    ),
)
async def _(server: Server) -> Any:
    """A transactional batch without a transactional id gets"""
    transaction = await transactional_producer(server)
    await transaction.begin()
    transaction.producer.transactional_id = None
    return await transaction.producer.produce(0, is_transactional=True)


@SECTION.broker_check(8, kip(98, "Idempotent Producer Guarantees"))
async def _(server: Server) -> None:
    """Sequences go on from one transaction to the next."""
    transaction = await ended_transaction(server)
    await transaction.begin()
    expect_equal("offset", await transaction.producer.append(1), 2)


@SECTION.broker_check(9, kip(664, "DescribeProducers"))
async def _(server: Server) -> None:
    """DescribeProducers returns the offset at which an open transaction begins."""
    transaction = await transactional_producer(server)
    await transaction.begin()
    topic = TopicRequest(name=transaction.producer.topic, partition_indexes=(0,))
    await transaction.producer.append(0)
    await transaction.producer.append(1)
    answer = await transaction.producer.leader.ask(DescribeProducersRequest(topics=[topic]))
    expect_error(answer, ErrorCode.NONE)
    states = answer.topics[0].partitions[0].active_producers
    expect_equal("starts", [state.current_txn_start_offset for state in states], [0])
