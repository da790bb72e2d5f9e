"""Readers of a partition with transactions: isolation, last stable offset (KIP-98)."""

from __future__ import annotations

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.transactions.transaction import (
    COMMITTED,
    UNCOMMITTED,
    ended_transaction,
    fetch,
    offsets_of_data,
    transactional_producer,
    written_transaction,
)
from kwire.conform.expectation import expect_equal
from kwire.conform.server import Server
from kwire.conform.source import kip, schema

_READERS = kip(98, "FetchRequest")


@broker_scenario("A read_committed reader gets nothing of an open transaction.", _READERS)
async def _open_hidden(server: Server) -> None:
    transaction = await written_transaction(server)
    expect_equal("offsets", offsets_of_data(await fetch(transaction.producer, COMMITTED)), [])


@broker_scenario("A read_uncommitted reader gets an open transaction's records.", _READERS)
async def _open_shown(server: Server) -> None:
    transaction = await written_transaction(server)
    expect_equal("offsets", offsets_of_data(await fetch(transaction.producer, UNCOMMITTED)), [0])


@broker_scenario("After the commit a read_committed reader gets the records.", _READERS)
async def _committed_shown(server: Server) -> None:
    transaction = await transactional_producer(server)
    await transaction.begin()
    await transaction.producer.append(0, records=2)
    await transaction.finish()
    expect_equal("offsets", offsets_of_data(await fetch(transaction.producer, COMMITTED)), [0, 1])


@broker_scenario(
    "The last stable offset is where the first open transaction begins in the partition.", _READERS
)
async def _last_stable_offset(server: Server) -> None:
    transaction = await transactional_producer(server)
    later = await transactional_producer(server, topic=transaction.producer.topic)
    for producer in (transaction, later):
        await producer.begin()
    await transaction.producer.append(0)
    await later.producer.append(0)
    await transaction.finish()
    expect_equal("offset", (await fetch(transaction.producer, COMMITTED)).last_stable_offset, 1)


@broker_scenario("A read_uncommitted reader gets the last stable offset, too.", _READERS)
async def _last_stable_offset_for_all(server: Server) -> None:
    transaction = await written_transaction(server)
    partition = await fetch(transaction.producer, UNCOMMITTED)
    expect_equal("last stable offset", partition.last_stable_offset, 0)
    expect_equal("high watermark", partition.high_watermark, 1)


@broker_scenario("Records behind an open transaction wait for its end.", _READERS)
async def _behind_waits(server: Server) -> None:
    transaction = await written_transaction(server)
    plain = transaction.producer.batch(
        -1, producer_id=-1, producer_epoch=-1, is_transactional=False
    )
    await transaction.producer.send(plain)
    expect_equal("open", offsets_of_data(await fetch(transaction.producer, COMMITTED)), [])
    await transaction.finish()
    expect_equal("ended", offsets_of_data(await fetch(transaction.producer, COMMITTED)), [0, 1])


@broker_scenario(
    "A read_committed reader gets the aborted transactions: producer id and first offset.",
    _READERS,
)
async def _aborted(server: Server) -> None:
    transaction = await ended_transaction(server, committed=False)
    partition = await fetch(transaction.producer, COMMITTED)
    listed = [(t.producer_id, t.first_offset) for t in partition.aborted_transactions or ()]
    expect_equal("aborted", listed, [(transaction.producer.producer_id, 0)])


@broker_scenario(
    "A read_committed reader gets no aborted transactions if all were committed.", _READERS
)
async def _none_aborted(server: Server) -> None:
    transaction = await ended_transaction(server)
    partition = await fetch(transaction.producer, COMMITTED)
    expect_equal("aborted", partition.aborted_transactions or [], [])


@broker_scenario(
    "A read_uncommitted reader gets null for the aborted transactions.",
    schema("FetchResponse", "AbortedTransactions"),
)
async def _null_for_uncommitted(server: Server) -> None:
    transaction = await ended_transaction(server, committed=False)
    partition = await fetch(transaction.producer, UNCOMMITTED)
    expect_equal("aborted", partition.aborted_transactions, None)


@broker_scenario(
    "ListOffsets gives read_committed readers the last stable offset as the latest.",
    kip(98, "ListOffsetRequest"),
)
async def _latest_offset(server: Server) -> None:
    transaction = await written_transaction(server)
    producer = transaction.producer
    expect_equal("committed", await producer.end_offset(isolation_level=COMMITTED), 0)
    expect_equal("uncommitted", await producer.end_offset(isolation_level=UNCOMMITTED), 1)


SECTION = CheckSection(
    "transactions/isolation",
    "Transactions and isolation levels",
    {
        1: _open_hidden,
        2: _open_shown,
        3: _committed_shown,
        4: _last_stable_offset,
        5: _last_stable_offset_for_all,
        6: _behind_waits,
        7: _aborted,
        8: _none_aborted,
        9: _null_for_uncommitted,
        10: _latest_offset,
    },
)
