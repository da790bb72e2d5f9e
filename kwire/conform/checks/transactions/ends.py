"""EndTxn: commit, abort, and the markers that they leave in partitions (KIP-98, KIP-588)."""

from __future__ import annotations

from typing import Any

from kwire.batches.control_records import ControlRecordType
from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.transactions.transaction import (
    UNCOMMITTED,
    batches,
    ended_transaction,
    fetch,
    markers,
    transactional_producer,
    written_transaction,
)
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.source import kip
from kwire.messages.data.end_txn_marker import EndTxnMarker

_REQUEST = kip(98, "EndTxnRequest")
_MARKERS = kip(98, "Control Messages")
_FENCED = 2
"""The first version in which a fenced producer has an error of its own (KIP-588)."""


def _accepts(*, committed: bool, verb: str) -> Any:
    @broker_scenario(f"An open transaction can be {verb}.", _REQUEST)
    async def accepts(server: Server) -> None:
        transaction = await transactional_producer(server)
        await transaction.begin()
        expect_error(await transaction.end(committed=committed), 0)

    return accepts


@broker_scenario("A transaction that has not begun gets INVALID_TXN_STATE.", _REQUEST)
async def _not_begun(server: Server) -> None:
    transaction = await transactional_producer(server)
    expect_error(await transaction.end(), 48)


def _repeats(*, committed: bool, verb: str) -> Any:
    @broker_scenario(f"What has been {verb} may be {verb} again.", _REQUEST)
    async def repeats(server: Server) -> None:
        transaction = await ended_transaction(server, committed=committed)
        expect_error(await transaction.end_again(committed=committed), 0)

    return repeats


def _contradicts(*, committed: bool, sentence: str) -> Any:
    @broker_scenario(f"{sentence} gets INVALID_TXN_STATE.", _REQUEST)
    async def contradicts(server: Server) -> None:
        transaction = await ended_transaction(server, committed=committed)
        expect_error(await transaction.end_again(committed=not committed), 48)

    return contradicts


@broker_scenario("An unknown transactional id gets INVALID_PRODUCER_ID_MAPPING.", _REQUEST)
async def _unknown_id(server: Server) -> None:
    transaction = await transactional_producer(server)
    name = server.name()
    transaction.coordinator = await server.coordinator(name, of_transactions=True)
    expect_error(await transaction.end(transactional_id=name), 49)


@broker_scenario("A foreign producer id gets INVALID_PRODUCER_ID_MAPPING.", _REQUEST)
async def _foreign_producer_id(server: Server) -> None:
    transaction = await transactional_producer(server)
    await transaction.begin()
    wrong = transaction.producer.producer_id + 10**9
    expect_error(await transaction.end(producer_id=wrong), 49)


def _refuses_epoch(version: int, code: int, error: str) -> Any:
    @broker_scenario(f"An older epoch gets {error} in v{version}.", kip(588))
    async def refuses(server: Server) -> None:
        older = await transactional_producer(server)
        await older.another_epoch()
        expect_error(await older.end(version=version), code)

    return refuses


@broker_scenario("After a commit the next transaction can begin.", _REQUEST)
async def _next_transaction(server: Server) -> None:
    transaction = await transactional_producer(server)
    for sequence in range(2):
        await transaction.begin()
        await transaction.producer.append(sequence)
        await transaction.finish()


def _marks(*, committed: bool, type: ControlRecordType) -> Any:
    verb = "commit" if committed else "abort"

    @broker_scenario(
        f"After {'a commit' if committed else 'an abort'} the partition has one {verb} marker.",
        _MARKERS,
    )
    async def marks(server: Server) -> None:
        transaction = await ended_transaction(server, committed=committed)
        found = markers(await fetch(transaction.producer, UNCOMMITTED))
        expect_equal("markers", [marker.type for marker in found], [type])

    return marks


@broker_scenario(
    "A marker is a transactional control batch of one record, by the producer's id and epoch.",
    _MARKERS,
)
async def _marker_batch(server: Server) -> None:
    transaction = await ended_transaction(server)
    last = batches(await fetch(transaction.producer, UNCOMMITTED))[-1]
    expect_equal("control", last.is_control, True)
    expect_equal("transactional", last.is_transactional, True)
    expect_equal("producer id", last.producer_id, transaction.producer.producer_id)
    expect_equal("epoch", last.producer_epoch, transaction.producer.epoch)
    expect_equal("sequence", last.base_sequence, -1)
    expect_equal("records", len(list(last.records())), 1)


@broker_scenario("A marker's value is an EndTxnMarker with a coordinator epoch.", _MARKERS)
async def _marker_value(server: Server) -> None:
    transaction = await ended_transaction(server)
    message = markers(await fetch(transaction.producer, UNCOMMITTED))[0].message
    expect_equal("message", type(message).__name__, EndTxnMarker.__name__)
    assert isinstance(message, EndTxnMarker)
    expect_equal("coordinator epoch is not negative", message.coordinator_epoch >= 0, True)


@broker_scenario("A partition that was added, but not written to, has a marker too.", _MARKERS)
async def _marker_alone(server: Server) -> None:
    transaction = await transactional_producer(server)
    await transaction.begin()
    await transaction.finish()
    found = markers(await fetch(transaction.producer, UNCOMMITTED))
    expect_equal("offsets of markers", [marker.record.offset for marker in found], [0])


@broker_scenario(
    "The next producer with a transactional id aborts what the one before left open.",
    kip(98, "InitPidRequest"),
)
async def _takes_over(server: Server) -> None:
    transaction = await written_transaction(server)
    await transaction.another_epoch()
    found = markers(await fetch(transaction.producer, UNCOMMITTED))
    expect_equal("markers", [marker.type for marker in found], [ControlRecordType.ABORT])


@broker_scenario("A broker that does not coordinate the id answers NOT_COORDINATOR.", _REQUEST)
async def _not_coordinator(server: Server) -> None:
    transaction = await transactional_producer(server)
    transaction.coordinator = await server.another_node(transaction.coordinator)
    expect_error(await transaction.end(), 16)


SECTION = CheckSection(
    "transactions/ends",
    "Commit, abort and their markers",
    {
        1: _accepts(committed=True, verb="committed"),
        2: _accepts(committed=False, verb="aborted"),
        3: _not_begun,
        4: _repeats(committed=True, verb="committed"),
        5: _repeats(committed=False, verb="aborted"),
        6: _contradicts(committed=True, sentence="Aborting what has been committed"),
        7: _contradicts(committed=False, sentence="Committing what has been aborted"),
        8: _unknown_id,
        9: _foreign_producer_id,
        10: _refuses_epoch(1, 47, "INVALID_PRODUCER_EPOCH"),
        11: _refuses_epoch(_FENCED, 90, "PRODUCER_FENCED"),
        12: _next_transaction,
        13: _marks(committed=True, type=ControlRecordType.COMMIT),
        14: _marks(committed=False, type=ControlRecordType.ABORT),
        15: _marker_batch,
        16: _marker_value,
        17: _marker_alone,
        18: _takes_over,
        19: _not_coordinator,
    },
)
