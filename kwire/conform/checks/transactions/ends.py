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
from kwire.conform.vocabulary import kip
from kwire.error_codes import ErrorCode
from kwire.messages.data.end_txn_marker import EndTxnMarker

SECTION = CheckSection("transactions/ends", "Commit, abort and their markers")

_REQUEST = kip(98, "EndTxnRequest")
_MARKERS = kip(98, "Control Messages")
_FENCED = 2
"""The first version in which a fenced producer has an error of its own (KIP-588)."""


def _accepts(*, committed: bool, verb: str) -> Any:
    @broker_scenario(f"An open transaction can be {verb}.", _REQUEST)
    async def accepts(server: Server) -> None:
        transaction = await transactional_producer(server)
        await transaction.begin()
        expect_error(await transaction.end(committed=committed), ErrorCode.NONE)

    return accepts


SECTION[1] = _accepts(committed=True, verb="committed")
SECTION[2] = _accepts(committed=False, verb="aborted")


@SECTION.broker_refuses(3, _REQUEST, ErrorCode.INVALID_TXN_STATE)
async def _(server: Server) -> Any:
    """A transaction that has not begun gets"""
    transaction = await transactional_producer(server)
    return await transaction.end()


def _repeats(*, committed: bool, verb: str) -> Any:
    @broker_scenario(f"What has been {verb} may be {verb} again.", _REQUEST)
    async def repeats(server: Server) -> None:
        transaction = await ended_transaction(server, committed=committed)
        expect_error(await transaction.end_again(committed=committed), ErrorCode.NONE)

    return repeats


SECTION[4] = _repeats(committed=True, verb="committed")
SECTION[5] = _repeats(committed=False, verb="aborted")


def _contradicts(*, committed: bool, sentence: str) -> Any:
    @broker_scenario(f"{sentence} gets INVALID_TXN_STATE.", _REQUEST)
    async def contradicts(server: Server) -> None:
        transaction = await ended_transaction(server, committed=committed)
        expect_error(
            await transaction.end_again(committed=not committed), ErrorCode.INVALID_TXN_STATE
        )

    return contradicts


SECTION[6] = _contradicts(committed=True, sentence="Aborting what has been committed")
SECTION[7] = _contradicts(committed=False, sentence="Committing what has been aborted")


@SECTION.broker_refuses(8, _REQUEST, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
async def _(server: Server) -> Any:
    """An unknown transactional id gets"""
    transaction = await transactional_producer(server)
    name = server.name()
    transaction.coordinator = await server.coordinator(name, of_transactions=True)
    return await transaction.end(transactional_id=name)


@SECTION.broker_refuses(9, _REQUEST, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
async def _(server: Server) -> Any:
    """A foreign producer id gets"""
    transaction = await transactional_producer(server)
    await transaction.begin()
    wrong = transaction.producer.producer_id + 10**9
    return await transaction.end(producer_id=wrong)


def _refuses_epoch(version: int, code: ErrorCode) -> Any:
    @broker_scenario(
        f"An older epoch gets {code.name} in v{version}.", kip(588, "Proposed Changes")
    )
    async def refuses(server: Server) -> None:
        older = await transactional_producer(server)
        await older.another_epoch()
        expect_error(await older.end(version=version), code)

    return refuses


SECTION[10] = _refuses_epoch(1, ErrorCode.INVALID_PRODUCER_EPOCH)
SECTION[11] = _refuses_epoch(_FENCED, ErrorCode.PRODUCER_FENCED)


@SECTION.broker_check(12, _REQUEST)
async def _(server: Server) -> None:
    """After a commit the next transaction can begin."""
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


SECTION[13] = _marks(committed=True, type=ControlRecordType.COMMIT)
SECTION[14] = _marks(committed=False, type=ControlRecordType.ABORT)


@SECTION.broker_check(15, _MARKERS)
async def _(server: Server) -> None:
    """A marker is a transactional control batch of one record, by the producer's id and epoch."""
    transaction = await ended_transaction(server)
    last = batches(await fetch(transaction.producer, UNCOMMITTED))[-1]
    expect_equal("control", last.is_control, True)
    expect_equal("transactional", last.is_transactional, True)
    expect_equal("producer id", last.producer_id, transaction.producer.producer_id)
    expect_equal("epoch", last.producer_epoch, transaction.producer.epoch)
    expect_equal("sequence", last.base_sequence, -1)
    expect_equal("records", len(list(last.records())), 1)


@SECTION.broker_check(16, _MARKERS)
async def _(server: Server) -> None:
    """A marker's value is an EndTxnMarker with a coordinator epoch."""
    transaction = await ended_transaction(server)
    message = markers(await fetch(transaction.producer, UNCOMMITTED))[0].message
    expect_equal("message", type(message).__name__, EndTxnMarker.__name__)
    assert isinstance(message, EndTxnMarker)
    expect_equal("coordinator epoch is not negative", message.coordinator_epoch >= 0, True)


@SECTION.broker_check(17, _MARKERS)
async def _(server: Server) -> None:
    """A partition that was added, but not written to, has a marker too."""
    transaction = await transactional_producer(server)
    await transaction.begin()
    await transaction.finish()
    found = markers(await fetch(transaction.producer, UNCOMMITTED))
    expect_equal("offsets of markers", [marker.record.offset for marker in found], [0])


@SECTION.broker_check(18, kip(98, "InitPidRequest"))
async def _(server: Server) -> None:
    """The next producer with a transactional id aborts what the one before left open."""
    transaction = await written_transaction(server)
    await transaction.another_epoch()
    found = markers(await fetch(transaction.producer, UNCOMMITTED))
    expect_equal("markers", [marker.type for marker in found], [ControlRecordType.ABORT])


@SECTION.broker_refuses(19, _REQUEST, ErrorCode.NOT_COORDINATOR)
async def _(server: Server) -> Any:
    """A broker that does not coordinate the id answers"""
    transaction = await transactional_producer(server)
    transaction.coordinator = await server.another_node(transaction.coordinator)
    return await transaction.end()
