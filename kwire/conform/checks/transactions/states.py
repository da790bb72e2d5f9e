"""DescribeTransactions and ListTransactions (KIP-664, KIP-994, KIP-1152)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.transactions.transaction import CheckedTransaction, transactional_producer
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import ConformanceVerdict, Deviation, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a65_describe_transactions import DescribeTransactionsRequest
from kwire.messages.a66_list_transactions import ListTransactionsRequest

SECTION = CheckSection("transactions/states", "Descriptions and lists of transactions")

_DESCRIBE = kip(664, "DescribeTransactions")
_LIST = kip(664, "ListTransactions")
_DURATION, _PATTERN = 1, 2
"""The first versions of ListTransactions with these filters (KIP-994, KIP-1152)."""


@SECTION.broker_check(1, _DESCRIBE)
async def _(server: Server) -> None:
    """An id that was only initialised is Empty, without partitions."""
    transaction = await transactional_producer(server)
    state = await transaction.describe()
    expect_equal("state", state.transaction_state, "Empty")
    expect_equal("producer id", state.producer_id, transaction.producer.producer_id)
    expect_equal("epoch", state.producer_epoch, transaction.producer.epoch)
    expect_equal("timeout", state.transaction_timeout_ms, 60_000)
    expect_equal("start", state.transaction_start_time_ms, -1)
    expect_equal("topics", state.topics, [])


def _completes(*, committed: bool, complete: str) -> Any:
    verb = "commit" if committed else "abort"

    @broker_scenario(f"After {verb} and markers a transaction is {complete}.", _DESCRIBE)
    async def completes(server: Server) -> None:
        transaction = await transactional_producer(server)
        await transaction.begin()
        await transaction.finish(committed=committed)
        state = await _state_at_rest(transaction)
        if state == "Empty":
            raise Deviation(f"state {complete}", state, ConformanceVerdict.DIFFERS)
        expect_equal("state", state, complete)

    return completes


async def _state_at_rest(transaction: CheckedTransaction) -> str:
    async def settled() -> str | None:
        state: str = (await transaction.describe()).transaction_state
        return None if state.startswith("Prepare") else state

    state: str = await transaction.server.wait_for("a transaction at rest", settled)
    return state


SECTION[3] = _completes(committed=True, complete="CompleteCommit")
SECTION[4] = _completes(committed=False, complete="CompleteAbort")


@SECTION.broker_refuses(5, _DESCRIBE, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
async def _(server: Server) -> Any:
    """A transactional id that was not initialised gets"""
    name = server.name()
    coordinator = await server.coordinator(name, of_transactions=True)
    request = DescribeTransactionsRequest(transactional_ids=(name,))
    return await coordinator.ask_coordinator(request)


@SECTION.broker_refuses(
    6, kafka("TransactionCoordinator.handleDescribeTransactions"), ErrorCode.INVALID_REQUEST
)
async def _(server: Server) -> Any:
    """An empty transactional id gets"""
    return await server.ask(DescribeTransactionsRequest(transactional_ids=("",)))


async def _listed(transaction: CheckedTransaction, version: int | None, **filters: Any) -> Any:
    request = ListTransactionsRequest(**filters)
    answer = await transaction.coordinator.ask_coordinator(request, version)
    expect_error(answer, ErrorCode.NONE)
    own = [t for t in answer.transaction_states if t.transactional_id == transaction.id]
    return own[0] if own else None


@SECTION.broker_check(8, _LIST)
async def _(server: Server) -> None:
    """The filter by state leaves out transactions in other states."""
    transaction = await transactional_producer(server)
    await transaction.begin()
    listed = await _listed(transaction, None, state_filters=("Ongoing",))
    expect(listed, "it among the open ones", "none")
    listed = await _listed(transaction, None, state_filters=("Empty",))
    expect(listed is None, "it not among the empty ones", listed)


@SECTION.broker_check(10, _LIST)
async def _(server: Server) -> None:
    """The filter by producer id leaves out the others."""
    transaction = await transactional_producer(server)
    number = transaction.producer.producer_id
    listed = await _listed(transaction, None, producer_id_filters=(number,))
    expect(listed, "it among its own", "none")
    listed = await _listed(transaction, None, producer_id_filters=(number + 10**9,))
    expect(listed is None, "it not among another's", listed)


@SECTION.broker_check(11, kip(994, "Public Interfaces"))
async def _(server: Server) -> None:
    """The filter by duration leaves out younger transactions."""
    transaction = await transactional_producer(server)
    await transaction.begin()

    async def older_than_0_ms() -> Any:
        return await _listed(transaction, _DURATION, duration_filter=0)

    await server.wait_for("it among those older than 0 ms", older_than_0_ms)
    listed = await _listed(transaction, _DURATION, duration_filter=3_600_000)
    expect(listed is None, "it not among those of an hour", listed)


@SECTION.broker_check(12, kip(1152, "Public Interfaces"))
async def _(server: Server) -> None:
    """The filter by pattern leaves out ids that do not match."""
    transaction = await transactional_producer(server)
    pattern = f"{transaction.id[:-1]}."
    expect(await _listed(transaction, _PATTERN, transactional_id_pattern=pattern), "its id", "none")
    listed = await _listed(transaction, _PATTERN, transactional_id_pattern="nothing-.*")
    expect(listed is None, "its id not among others", listed)


@SECTION.broker_refuses(13, kip(1152, "Public Interfaces"), ErrorCode.INVALID_REGULAR_EXPRESSION)
async def _(server: Server) -> Any:
    """A pattern that is no regular expression gets"""
    request = ListTransactionsRequest(transactional_id_pattern="(")
    connection = await server.connection()
    return await connection.ask_coordinator(request, _PATTERN)
