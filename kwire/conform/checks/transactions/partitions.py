"""AddPartitionsToTxn: partitions enter a transaction (KIP-98, KIP-588, KIP-890)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.transactions.transaction import (
    CheckedTransaction,
    demand_second_version,
    transactional_producer,
)
from kwire.conform.expectation import error_codes, expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a24_add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

SECTION = CheckSection("transactions/partitions", "Partitions of transactions")

_REQUEST = kip(98, "AddPartitionsToTxnRequest")
_FENCED = 2
"""The first version in which a fenced producer has an error of its own (KIP-588)."""
_BATCHED = 4
"""The first version that brokers use, with many transactions (KIP-890)."""
_ABORTABLE = 5
"""The first version in which a client is told that it can abort and go on (KIP-890)."""


@SECTION.broker_check(1, _REQUEST)
async def _(server: Server) -> None:
    """A partition that exists is added, and may be added again."""
    transaction = await transactional_producer(server)
    expect_error(await transaction.add(0), ErrorCode.NONE)
    expect_error(await transaction.add(0), ErrorCode.NONE)


@SECTION.broker_refuses(2, _REQUEST, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
async def _(server: Server) -> Any:
    """An unknown transactional id gets"""
    transaction = await transactional_producer(server)
    name = server.name()
    other = await server.coordinator(name, of_transactions=True)
    transaction = CheckedTransaction(
        server=server, coordinator=other, producer=transaction.producer
    )
    return await transaction.add(0, transactional_id=name)


@SECTION.broker_refuses(3, _REQUEST, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
async def _(server: Server) -> Any:
    """A producer id that is not the transactional id's gets"""
    transaction = await transactional_producer(server)
    wrong = transaction.producer.producer_id + 10**9
    return await transaction.add(0, producer_id=wrong)


def _refuses_epoch(version: int, code: ErrorCode) -> Any:
    @broker_scenario(
        f"An older epoch gets {code.name} in v{version}.", kip(588, "Proposed Changes")
    )
    async def refuses(server: Server) -> None:
        older = await transactional_producer(server)
        await older.another_epoch()
        expect_error(await older.add(0, version=version), code)

    return refuses


SECTION[4] = _refuses_epoch(1, ErrorCode.INVALID_PRODUCER_EPOCH)
SECTION[5] = _refuses_epoch(_FENCED, ErrorCode.PRODUCER_FENCED)


@SECTION.broker_refuses(
    6,
    kafka("TransactionCoordinator.handleAddPartitionsToTransaction"),
    ErrorCode.PRODUCER_FENCED,
    differs=(ErrorCode.INVALID_PRODUCER_EPOCH,),
)
async def _(server: Server) -> Any:
    """An epoch that no producer was given gets PRODUCER_FENCED; INVALID_PRODUCER_EPOCH by
    KIP-98."""
    transaction = await transactional_producer(server)
    epoch = transaction.producer.epoch + 1
    return await transaction.add(0, producer_epoch=epoch, version=_FENCED)


@SECTION.broker_check(7, _REQUEST)
async def _(server: Server) -> None:
    """Beside an unknown topic nothing is added: the others get OPERATION_NOT_ATTEMPTED."""
    transaction = await transactional_producer(server)
    answer = await transaction.add(0, also=(server.name(),))
    codes = sorted(filter(None, error_codes(answer)))
    expect_equal(
        "errors", codes, [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED]
    )


@SECTION.broker_refuses(8, _REQUEST, ErrorCode.INVALID_TXN_STATE)
async def _(server: Server) -> Any:
    """After a refused request the transaction has not begun: EndTxn gets"""
    transaction = await transactional_producer(server)
    await transaction.add(0, also=(server.name(),))
    return await transaction.end()


@SECTION.broker_refuses(
    9, kafka("TransactionCoordinator.handleAddPartitionsToTransaction"), ErrorCode.INVALID_REQUEST
)
async def _(server: Server) -> Any:
    """An empty transactional id gets"""
    transaction = await transactional_producer(server)
    return await transaction.add(0, transactional_id="")


def _batched(
    transaction: CheckedTransaction, *, verify_only: bool, partition: int = 0, **fields: Any
) -> AddPartitionsToTxnRequest:
    topic = AddPartitionsToTxnTopic(name=transaction.producer.topic, partitions=(partition,))
    part = AddPartitionsToTxnTransaction(
        verify_only=verify_only, topics=[topic], **transaction.numbers(**fields)
    )
    return AddPartitionsToTxnRequest(transactions=[part])


@SECTION.broker_check(10, kip(890, "Proposed Changes"))
async def _(server: Server) -> None:
    """A broker that only verifies a partition of an open transaction gets no error."""
    transaction = await transactional_producer(server)
    await transaction.begin()
    request = _batched(transaction, verify_only=True)
    expect_error(await transaction.coordinator.ask(request, _BATCHED), ErrorCode.NONE)


def _refuses_to_verify(version: int, *codes: ErrorCode) -> Any:
    error = " or ".join(code.name for code in codes)

    @broker_scenario(
        f"Verifying a partition that was not added gets {error} in v{version}.",
        kip(890, "Proposed Changes"),
    )
    async def refuses(server: Server) -> None:
        transaction = await transactional_producer(server, partitions=2)
        await transaction.begin()
        request = _batched(transaction, verify_only=True, partition=1)
        expect_error(await transaction.coordinator.ask(request, version), *codes)

    return refuses


SECTION[11] = _refuses_to_verify(
    _BATCHED, ErrorCode.INVALID_TXN_STATE, ErrorCode.TRANSACTION_ABORTABLE
)
SECTION[12] = _refuses_to_verify(_ABORTABLE, ErrorCode.TRANSACTION_ABORTABLE)


@SECTION.broker_check(13, kip(890, "Proposed Changes"))
async def _(server: Server) -> None:
    """Verifying a partition does not add it."""
    transaction = await transactional_producer(server, partitions=2)
    await transaction.begin()
    request = _batched(transaction, verify_only=True, partition=1)
    await transaction.coordinator.ask(request, _BATCHED)
    topics = (await transaction.describe()).topics
    expect_equal("partitions", [topic.partitions for topic in topics], [(0,)])


@SECTION.broker_check(14, kip(890, "Public Interfaces"))
async def _(server: Server) -> None:
    """Transactions in one request of a broker are answered one by one."""
    await demand_second_version(server)  # before, these are not of clients
    transaction = await transactional_producer(server)
    good = _batched(transaction, verify_only=False)
    bad = _batched(transaction, verify_only=False, transactional_id=server.name())
    request = AddPartitionsToTxnRequest(transactions=[*good.transactions, *bad.transactions])
    answer = await transaction.coordinator.ask(request, _BATCHED)
    results = {
        result.transactional_id: set(filter(None, error_codes(result)))
        for result in answer.results_by_transaction
    }
    expect_equal("errors of the good one", results.get(transaction.id), set())
    expect(results.get(bad.transactions[0].transactional_id), "an error of the other", results)
