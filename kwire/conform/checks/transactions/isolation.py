"""Readers of a partition with transactions: isolation, last stable offset (KIP-98)."""

from __future__ import annotations

from kwire.conform.check import CheckSection
from kwire.conform.checks.transactions.transaction import (
    COMMITTED,
    UNCOMMITTED,
    ended_transaction,
    fetch,
    offsets_of_data,
    transactional_producer,
    written_transaction,
)
from kwire.conform.expectation import expect, expect_equal
from kwire.conform.server import Server
from kwire.conform.vocabulary import ConformanceVerdict, kip, schema

SECTION = CheckSection("transactions/isolation", "Transactions and isolation levels")

_READERS = kip(98, "FetchRequest")


@SECTION.broker_check(1, _READERS)
async def _(server: Server) -> None:
    """A read_committed reader gets nothing of an open transaction."""
    transaction = await written_transaction(server)
    expect_equal("offsets", offsets_of_data(await fetch(transaction.producer, COMMITTED)), [])


@SECTION.broker_check(2, _READERS)
async def _(server: Server) -> None:
    """A read_uncommitted reader gets an open transaction's records."""
    transaction = await written_transaction(server)
    expect_equal("offsets", offsets_of_data(await fetch(transaction.producer, UNCOMMITTED)), [0])


@SECTION.broker_check(3, _READERS)
async def _(server: Server) -> None:
    """After the commit a read_committed reader gets the records."""
    transaction = await transactional_producer(server)
    await transaction.begin()
    await transaction.producer.append(0, records=2)
    await transaction.finish()
    expect_equal("offsets", offsets_of_data(await fetch(transaction.producer, COMMITTED)), [0, 1])


@SECTION.broker_check(4, _READERS)
async def _(server: Server) -> None:
    """The last stable offset is where the first open transaction begins in the partition."""
    transaction = await transactional_producer(server)
    later = await transactional_producer(server, topic=transaction.producer.topic)
    for producer in (transaction, later):
        await producer.begin()
    await transaction.producer.append(0)
    await later.producer.append(0)
    await transaction.finish()
    expect_equal("offset", (await fetch(transaction.producer, COMMITTED)).last_stable_offset, 1)


@SECTION.broker_check(5, _READERS)
async def _(server: Server) -> None:
    """A read_uncommitted reader gets the last stable offset, too."""
    transaction = await written_transaction(server)
    partition = await fetch(transaction.producer, UNCOMMITTED)
    expect_equal("last stable offset", partition.last_stable_offset, 0)
    expect_equal("high watermark", partition.high_watermark, 1)


@SECTION.broker_check(6, _READERS)
async def _(server: Server) -> None:
    """Records behind an open transaction wait for its end."""
    transaction = await written_transaction(server)
    plain = transaction.producer.batch(
        -1, producer_id=-1, producer_epoch=-1, is_transactional=False
    )
    await transaction.producer.send(plain)
    expect_equal("open", offsets_of_data(await fetch(transaction.producer, COMMITTED)), [])
    await transaction.finish()
    expect_equal("ended", offsets_of_data(await fetch(transaction.producer, COMMITTED)), [0, 1])


@SECTION.broker_check(7, _READERS)
async def _(server: Server) -> None:
    """A read_committed reader gets the aborted transactions: producer id and first offset."""
    first = await ended_transaction(server, committed=False)
    second = await first.another_epoch()
    await second.begin()
    await second.producer.append(0)
    await second.finish(committed=False)
    partition = await fetch(second.producer, COMMITTED)
    listed = [(t.producer_id, t.first_offset) for t in partition.aborted_transactions or ()]
    begun = [(first.producer.producer_id, 0), (second.producer.producer_id, 2)]
    expect_equal("aborted", sorted(listed), sorted(begun))


@SECTION.broker_check(8, _READERS)
async def _(server: Server) -> None:
    """A read_committed reader gets no aborted transactions if all were committed."""
    transaction = await ended_transaction(server)
    partition = await fetch(transaction.producer, COMMITTED)
    expect_equal("aborted", partition.aborted_transactions or [], [])


@SECTION.broker_check(9, schema("FetchRequest", "IsolationLevel"))
async def _(server: Server) -> None:
    """A read_uncommitted reader gets no aborted transactions, but null."""
    transaction = await ended_transaction(server, committed=False)
    partition = await fetch(transaction.producer, UNCOMMITTED)
    aborted = partition.aborted_transactions
    expect(not aborted, "no aborted transactions", aborted)
    expect_equal("aborted", aborted, None, otherwise=ConformanceVerdict.DIFFERS)


@SECTION.broker_check(10, kip(98, "ListOffsetRequest"))
async def _(server: Server) -> None:
    """ListOffsets gives read_committed readers the last stable offset as the latest."""
    transaction = await written_transaction(server)
    producer = transaction.producer
    expect_equal("committed", await producer.end_offset(isolation_level=COMMITTED), 0)
    expect_equal("uncommitted", await producer.end_offset(isolation_level=UNCOMMITTED), 1)
