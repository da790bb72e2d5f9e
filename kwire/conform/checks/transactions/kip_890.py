"""Transactions whose partitions come by writing, and whose epoch grows with each end (KIP-890)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.producers.producer import LAST_WITH_NAMES
from kwire.conform.checks.transactions.transaction import (
    COMMITTED,
    CheckedTransaction,
    demand_second_version,
    fetch,
    offsets_of_data,
    transactional_producer,
)
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import kip
from kwire.error_codes import ErrorCode
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a26_end_txn import EndTxnRequest

SECTION = CheckSection("transactions/kip-890", "Transactions of version 2")

_IMPLICIT = 12
"""The first version of Produce that enters partitions into the transaction."""
_GROWING = 5
"""The first version of EndTxn that answers with the next epoch."""
_PROPOSED = kip(890, "Proposed Changes")


async def _producer(server: Server, partitions: int = 1) -> CheckedTransaction:
    """Return a producer of a cluster whose transaction.version is 2; Skipped in others."""
    connection = await server.connection()
    connection.demand(ProduceRequest, _IMPLICIT)
    connection.demand(EndTxnRequest, _GROWING)
    await demand_second_version(server)
    return await transactional_producer(server, partitions)


async def _write(transaction: CheckedTransaction, sequence: int, **fields: Any) -> Any:
    producer = transaction.producer
    return await producer.send(producer.batch(sequence, **fields), last=LAST_WITH_NAMES)


async def _end(transaction: CheckedTransaction, *, committed: bool = True) -> Any:
    """End the transaction; take over the numbers of the answer if it is accepted."""
    answer = await transaction.end(committed=committed, version=_GROWING)
    if answer.error_code == ErrorCode.NONE:
        transaction.producer.producer_id = answer.producer_id
        transaction.producer.epoch = answer.producer_epoch
    return answer


@SECTION.broker_check(1, _PROPOSED)
async def _(server: Server) -> None:
    """Produce v12 enters the partition into the transaction by itself."""
    transaction = await _producer(server)
    expect_error(await _write(transaction, 0), ErrorCode.NONE)
    state = await transaction.describe()
    expect_equal("state", state.transaction_state, "Ongoing")
    expect_equal("partitions", [topic.partitions for topic in state.topics], [(0,)])


@SECTION.broker_check(2, _PROPOSED)
async def _(server: Server) -> None:
    """EndTxn v5 answers with the producer's id and its next epoch."""
    transaction = await _producer(server)
    before = (transaction.producer.producer_id, transaction.producer.epoch)
    await _write(transaction, 0)
    expect_error(await _end(transaction), ErrorCode.NONE)
    after = (transaction.producer.producer_id, transaction.producer.epoch)
    expect_equal("id and epoch", after, (before[0], before[1] + 1))


@SECTION.broker_check(3, _PROPOSED)
async def _(server: Server) -> None:
    """EndTxn v5 that comes again with the epoch before has the same answer."""
    transaction = await _producer(server)
    epoch = transaction.producer.epoch
    await _write(transaction, 0)
    expect_error(await _end(transaction), ErrorCode.NONE)

    async def settled() -> Any:
        answer = await transaction.end(version=_GROWING, producer_epoch=epoch)
        return None if answer.error_code == ErrorCode.CONCURRENT_TRANSACTIONS else answer

    answer = await server.wait_for("the end of the transaction", settled)
    expect_error(answer, ErrorCode.NONE)
    came = (answer.producer_id, answer.producer_epoch)
    known = (transaction.producer.producer_id, transaction.producer.epoch)
    expect_equal("id and epoch", came, known)


@SECTION.broker_check(4, _PROPOSED)
async def _(server: Server) -> None:
    """After the marker a batch with the epoch before gets INVALID_PRODUCER_EPOCH."""
    transaction = await _producer(server)
    epoch = transaction.producer.epoch
    await _write(transaction, 0)
    await _end(transaction)

    async def marked() -> bool:
        return await transaction.producer.end_offset() == 2

    await server.wait_for("a transaction marker", marked)
    expect_error(
        await _write(transaction, 1, producer_epoch=epoch), ErrorCode.INVALID_PRODUCER_EPOCH
    )


@SECTION.broker_check(5, _PROPOSED)
async def _(server: Server) -> None:
    """The next transaction begins with the sequence 0 of the next epoch."""
    transaction = await _producer(server)
    await _write(transaction, 0)
    await _end(transaction)

    async def written() -> Any:
        answer = await _write(transaction, 0)
        return (
            None
            if answer.error_code
            in (
                ErrorCode.CONCURRENT_TRANSACTIONS,
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                ErrorCode.NETWORK_EXCEPTION,
            )
            else answer
        )

    expect_error(await server.wait_for("the next transaction", written), ErrorCode.NONE)
    expect_error(await _end(transaction), ErrorCode.NONE)

    async def both() -> bool:
        return offsets_of_data(await fetch(transaction.producer, COMMITTED)) == [0, 2]

    await server.wait_for("records of both transactions", both)


@SECTION.broker_check(6, _PROPOSED)
async def _(server: Server) -> None:
    """An abort of what has not begun is accepted, with the next epoch."""
    transaction = await _producer(server)
    epoch = transaction.producer.epoch
    expect_error(await _end(transaction, committed=False), ErrorCode.NONE)
    expect_equal("epoch", transaction.producer.epoch, epoch + 1)


@SECTION.broker_refuses(7, _PROPOSED, ErrorCode.INVALID_TXN_STATE)
async def _(server: Server) -> Any:
    """A commit of what has not begun gets"""
    return await _end(await _producer(server))


@SECTION.broker_refuses(8, _PROPOSED, ErrorCode.INVALID_PRODUCER_EPOCH)
async def _(server: Server) -> Any:
    """Produce v12 of a fenced producer gets"""
    transaction = await _producer(server)
    await transaction.another_epoch()
    return await _write(transaction, 0)
