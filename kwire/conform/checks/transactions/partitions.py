"""AddPartitionsToTxn: partitions enter a transaction (KIP-98, KIP-588, KIP-890)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.transactions.transaction import CheckedTransaction, transactional_producer
from kwire.conform.expectation import (
    error_codes,
    expect,
    expect_equal,
    expect_error,
    expect_refused,
)
from kwire.conform.server import Server
from kwire.conform.source import kafka, kip
from kwire.messages.a24_add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

_REQUEST = kip(98, "AddPartitionsToTxnRequest")
_FENCED = 2
"""The first version in which a fenced producer has an error of its own (KIP-588)."""
_BATCHED = 4
"""The first version that brokers use, with many transactions (KIP-890)."""
_ABORTABLE = 5
"""The first version in which a client is told that it can abort and go on (KIP-890)."""


@broker_scenario("A partition that exists is added, and may be added again.", _REQUEST)
async def _added(server: Server) -> None:
    transaction = await transactional_producer(server)
    expect_error(await transaction.add(0), 0)
    expect_error(await transaction.add(0), 0)


@broker_scenario("An unknown transactional id gets INVALID_PRODUCER_ID_MAPPING.", _REQUEST)
async def _unknown_id(server: Server) -> None:
    transaction = await transactional_producer(server)
    name = server.name()
    other = await server.coordinator(name, of_transactions=True)
    transaction = CheckedTransaction(
        server=server, coordinator=other, producer=transaction.producer
    )
    expect_error(await transaction.add(0, transactional_id=name), 49)


@broker_scenario(
    "A producer id that is not the transactional id's gets INVALID_PRODUCER_ID_MAPPING.", _REQUEST
)
async def _foreign_producer_id(server: Server) -> None:
    transaction = await transactional_producer(server)
    wrong = transaction.producer.producer_id + 10**9
    expect_error(await transaction.add(0, producer_id=wrong), 49)


def _refuses_epoch(version: int, code: int, error: str) -> Any:
    @broker_scenario(f"An older epoch gets {error} in v{version}.", kip(588, "Proposed Changes"))
    async def refuses(server: Server) -> None:
        older = await transactional_producer(server)
        await older.another_epoch()
        expect_error(await older.add(0, version=version), code)

    return refuses


@broker_scenario(
    "An epoch that no producer was given gets PRODUCER_FENCED; INVALID_PRODUCER_EPOCH by KIP-98.",
    kafka("TransactionCoordinator.handleAddPartitionsToTransaction"),
)
async def _future_epoch(server: Server) -> None:
    transaction = await transactional_producer(server)
    epoch = transaction.producer.epoch + 1
    expect_error(await transaction.add(0, producer_epoch=epoch, version=_FENCED), 90, differs=(47,))


@broker_scenario(
    "Beside an unknown topic nothing is added: the others get OPERATION_NOT_ATTEMPTED.", _REQUEST
)
async def _unknown_topic(server: Server) -> None:
    transaction = await transactional_producer(server)
    answer = await transaction.add(0, also=(server.name(),))
    codes = sorted(filter(None, error_codes(answer)))
    expect_equal("errors", codes, [3, 55])


@broker_scenario(
    "After a refused request the transaction has not begun: EndTxn gets INVALID_TXN_STATE.",
    _REQUEST,
)
async def _not_begun(server: Server) -> None:
    transaction = await transactional_producer(server)
    await transaction.add(0, also=(server.name(),))
    expect_error(await transaction.end(), 48)


@broker_scenario("An empty transactional id gets INVALID_REQUEST.", _REQUEST)
async def _empty_id(server: Server) -> None:
    transaction = await transactional_producer(server)
    expect_refused(await transaction.add(0, transactional_id=""), 42)


def _batched(
    transaction: CheckedTransaction, *, verify_only: bool, partition: int = 0, **fields: Any
) -> AddPartitionsToTxnRequest:
    topic = AddPartitionsToTxnTopic(name=transaction.producer.topic, partitions=(partition,))
    part = AddPartitionsToTxnTransaction(
        verify_only=verify_only, topics=[topic], **transaction.numbers(**fields)
    )
    return AddPartitionsToTxnRequest(transactions=[part])


@broker_scenario(
    "A broker that only verifies a partition of an open transaction gets no error.",
    kip(890, "Proposed Changes"),
)
async def _verified(server: Server) -> None:
    transaction = await transactional_producer(server)
    await transaction.begin()
    request = _batched(transaction, verify_only=True)
    expect_error(await transaction.coordinator.ask(request, _BATCHED), 0)


def _refuses_to_verify(version: int, error: str, *codes: int) -> Any:
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


@broker_scenario("Verifying a partition does not add it.", kip(890, "Proposed Changes"))
async def _verify_adds_nothing(server: Server) -> None:
    transaction = await transactional_producer(server, partitions=2)
    await transaction.begin()
    request = _batched(transaction, verify_only=True, partition=1)
    await transaction.coordinator.ask(request, _BATCHED)
    topics = (await transaction.describe()).topics
    expect_equal("partitions", [topic.partitions for topic in topics], [(0,)])


@broker_scenario(
    "Transactions in one request of a broker are answered one by one.",
    kip(890, "Public Interfaces"),
)
async def _one_by_one(server: Server) -> None:
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


SECTION = CheckSection(
    "transactions/partitions",
    "Partitions of transactions",
    {
        1: _added,
        2: _unknown_id,
        3: _foreign_producer_id,
        4: _refuses_epoch(1, 47, "INVALID_PRODUCER_EPOCH"),
        5: _refuses_epoch(_FENCED, 90, "PRODUCER_FENCED"),
        6: _future_epoch,
        7: _unknown_topic,
        8: _not_begun,
        9: _empty_id,
        10: _verified,
        11: _refuses_to_verify(_BATCHED, "INVALID_TXN_STATE or TRANSACTION_ABORTABLE", 48, 120),
        12: _refuses_to_verify(_ABORTABLE, "TRANSACTION_ABORTABLE", 120),
        13: _verify_adds_nothing,
        14: _one_by_one,
    },
)
