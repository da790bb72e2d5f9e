"""Descriptions of producers and transactions (KIP-664, KIP-1152), and of what there is not."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import Check, CheckSection, exchange, gets, scenario
from kwire.conform.checks.records.log import new_log
from kwire.conform.expectation import answers, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a61_describe_producers import DescribeProducersRequest, TopicRequest
from kwire.messages.a65_describe_transactions import DescribeTransactionsRequest
from kwire.messages.a66_list_transactions import ListTransactionsRequest

SECTION = CheckSection("admin/transactions", "Descriptions of producers and transactions")

_BROKER = ServerRole.BROKER
_PRODUCERS = kip(664, "DescribeProducers")
_TRANSACTIONS = kip(664, "DescribeTransactions")
_LIST = kip(664, "ListTransactions")
_NO_STATE = "Dreaming"


def _producers(name: str, partition: int = 0) -> DescribeProducersRequest:
    topic = TopicRequest(name=name, partition_indexes=(partition,))
    return DescribeProducersRequest(topics=[topic])


def _of_topic(sentence: str, name: str, code: int, *others: int) -> Check:
    """Return a check of a topic that there is not. name: empty for one that there could be."""

    @scenario(gets(sentence, code), _PRODUCERS, role=_BROKER)
    async def check(server: Server) -> None:
        expect_error(await server.ask(_producers(name or server.name())), code, *others)

    return check


SECTION[1] = _of_topic("A topic that does not exist gets", "", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
SECTION[2] = _of_topic(
    "A name that no topic can have gets",
    "bad name",
    ErrorCode.INVALID_TOPIC_EXCEPTION,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)


@SECTION.broker_check(3, _PRODUCERS)
async def _(server: Server) -> None:
    """A partition without idempotent producers lists no producers."""
    log = await new_log(server)
    log.leader.demand_since(DescribeProducersRequest, 0)
    await log.append()
    part = (await log.leader.ask(_producers(log.topic))).topics[0].partitions[0]
    came = (part.error_code, part.active_producers)
    expect_equal("error, producers", came, (0, []))


@SECTION.check(4, _TRANSACTIONS, role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A transactional id that does not exist gets TRANSACTIONAL_ID_NOT_FOUND."""
    (await server.connection()).demand_since(DescribeTransactionsRequest, 0)
    name = server.name()
    coordinator = await server.coordinator(name, of_transactions=True)
    request = DescribeTransactionsRequest(transactional_ids=(name,))

    async def settled() -> Any:
        answer = await coordinator.ask(request)
        return (
            None
            if answer.transaction_states[0].error_code
            in (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)
            else answer
        )

    expect_error(
        await server.wait_for("the coordinator", settled), ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    )


SECTION[5] = exchange(
    "An empty transactional id gets",
    _TRANSACTIONS,
    send=DescribeTransactionsRequest(transactional_ids=("",)),
    expect=answers(ErrorCode.INVALID_REQUEST),
    differs=answers(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND) | answers(ErrorCode.NOT_COORDINATOR),
    role=_BROKER,
)


@SECTION.check(6, _LIST, role=_BROKER)
async def _(server: Server) -> None:
    """A state that does not exist is named in the answer as unknown."""
    request = ListTransactionsRequest(state_filters=("Ongoing", _NO_STATE))
    answer = await (await server.connection()).ask_coordinator(request)
    expect_equal("unknown states", tuple(answer.unknown_state_filters), (_NO_STATE,))


@SECTION.refuses(
    7, kip(1152, "Public Interfaces"), ErrorCode.INVALID_REGULAR_EXPRESSION, role=_BROKER
)
async def _(server: Server) -> Any:
    """A pattern that is no regular expression gets"""
    connection = await server.connection()
    connection.demand_since(ListTransactionsRequest, 2)
    request = ListTransactionsRequest(transactional_id_pattern="(")
    return await connection.ask_coordinator(request)
