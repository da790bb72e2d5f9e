"""Batches of transactions: what a leader takes and what it refuses (KIP-98, KIP-890)."""

from __future__ import annotations

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.transactions.transaction import (
    ended_transaction,
    transactional_producer,
    written_transaction,
)
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.source import kafka, kip
from kwire.messages.a61_describe_producers import DescribeProducersRequest, TopicRequest

_VERIFICATION = kip(890, "Proposed Changes")


@broker_scenario("A batch for a partition that is in the transaction is appended.", kip(98))
async def _appended(server: Server) -> None:
    transaction = await transactional_producer(server)
    await transaction.begin()
    expect_equal("offset", await transaction.producer.append(0), 0)


@broker_scenario(
    "A transactional batch outside a transaction gets INVALID_TXN_STATE or TRANSACTION_ABORTABLE.",
    _VERIFICATION,
)
async def _outside(server: Server) -> None:
    transaction = await transactional_producer(server)
    expect_error(await transaction.producer.produce(0), 48, 120)


@broker_scenario(
    "A transactional batch for a partition that was not added is refused in the same way.",
    _VERIFICATION,
)
async def _not_added(server: Server) -> None:
    transaction = await transactional_producer(server, partitions=2)
    await transaction.begin(0)
    expect_error(await transaction.producer.produce(0, partition=1), 48, 120)


@broker_scenario(
    "A late batch, after its transaction ended, is refused in the same way.",
    _VERIFICATION,
)
async def _late(server: Server) -> None:
    transaction = await ended_transaction(server)
    expect_error(await transaction.producer.produce(1), 48, 120)


@broker_scenario("A batch of a fenced producer gets INVALID_PRODUCER_EPOCH.", kip(588))
async def _fenced(server: Server) -> None:
    older = await written_transaction(server)
    newer = await older.another_epoch()
    await newer.begin()
    expect_error(await older.producer.produce(1), 47)


@broker_scenario(
    "A plain batch of a producer with an open transaction in the partition gets INVALID_TXN_STATE.",
    kafka("ProducerAppendInfo.appendDataBatch"),
)
async def _plain_inside(server: Server) -> None:
    transaction = await written_transaction(server)
    expect_error(await transaction.producer.produce(1, is_transactional=False), 48)


@broker_scenario(
    "A transactional batch without a transactional id gets TRANSACTIONAL_ID_AUTHORIZATION_FAILED.",
    kafka("KafkaApis.handleProduceRequest"),
)
async def _no_transactional_id(server: Server) -> None:
    transaction = await transactional_producer(server)
    await transaction.begin()
    transaction.producer.transactional_id = None
    answer = await transaction.producer.produce(0, is_transactional=True)
    expect_error(answer, 53, differs=(0, 42, 48, 87))


@broker_scenario("Sequences go on from one transaction to the next.", kip(98))
async def _sequences_go_on(server: Server) -> None:
    transaction = await ended_transaction(server)
    await transaction.begin()
    expect_equal("offset", await transaction.producer.append(1), 2)


@broker_scenario(
    "DescribeProducers returns the offset at which an open transaction begins.", kip(664)
)
async def _described(server: Server) -> None:
    transaction = await transactional_producer(server)
    await transaction.begin()
    topic = TopicRequest(name=transaction.producer.topic, partition_indexes=(0,))
    await transaction.producer.append(0)
    await transaction.producer.append(1)
    answer = await transaction.producer.leader.ask(DescribeProducersRequest(topics=[topic]))
    expect_error(answer, 0)
    states = answer.topics[0].partitions[0].active_producers
    expect_equal("starts", [state.current_txn_start_offset for state in states], [0])


SECTION = CheckSection(
    "transactions/produce",
    "Batches of transactions",
    {
        1: _appended,
        2: _outside,
        3: _not_added,
        4: _late,
        5: _fenced,
        6: _plain_inside,
        7: _no_transactional_id,
        8: _sequences_go_on,
        9: _described,
    },
)
