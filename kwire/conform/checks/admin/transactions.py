"""Descriptions of producers and transactions (KIP-664, KIP-1152), and of what there is not."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import Check, CheckSection, broker_scenario, exchange, scenario
from kwire.conform.checks.records.log import new_log
from kwire.conform.expectation import answers, expect_equal, expect_error
from kwire.conform.needs import Need, ServerRole
from kwire.conform.server import Server
from kwire.conform.source import kip
from kwire.messages.a61_describe_producers import DescribeProducersRequest, TopicRequest
from kwire.messages.a65_describe_transactions import DescribeTransactionsRequest
from kwire.messages.a66_list_transactions import ListTransactionsRequest

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

    @scenario(sentence, _PRODUCERS, role=_BROKER)
    async def check(server: Server) -> None:
        expect_error(await server.ask(_producers(name or server.name())), code, *others)

    return check


@broker_scenario("A partition without idempotent producers lists no producers.", _PRODUCERS)
async def _no_producers(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(DescribeProducersRequest, 0)
    await log.append()
    part = (await log.leader.ask(_producers(log.topic))).topics[0].partitions[0]
    came = (part.error_code, part.active_producers)
    expect_equal("error, producers", came, (0, []))


@scenario(
    "A transactional id that does not exist gets TRANSACTIONAL_ID_NOT_FOUND.",
    _TRANSACTIONS,
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _unknown_transaction(server: Server) -> None:
    (await server.connection()).demand_since(DescribeTransactionsRequest, 0)
    name = server.name()
    coordinator = await server.coordinator(name, of_transactions=True)
    request = DescribeTransactionsRequest(transactional_ids=(name,))

    async def settled() -> Any:
        answer = await coordinator.ask(request)
        return None if answer.transaction_states[0].error_code in (14, 16) else answer

    expect_error(await server.wait_for("the coordinator", settled), 105)


@scenario("A state that does not exist is named in the answer as unknown.", _LIST, role=_BROKER)
async def _unknown_state(server: Server) -> None:
    request = ListTransactionsRequest(state_filters=("Ongoing", _NO_STATE))
    answer = await (await server.connection()).ask_coordinator(request)
    expect_equal("unknown states", tuple(answer.unknown_state_filters), (_NO_STATE,))


@scenario(
    "A pattern that is no regular expression gets INVALID_REGULAR_EXPRESSION.",
    kip(1152, "Public Interfaces"),
    role=_BROKER,
)
async def _bad_pattern(server: Server) -> None:
    connection = await server.connection()
    connection.demand_since(ListTransactionsRequest, 2)
    request = ListTransactionsRequest(transactional_id_pattern="(")
    expect_error(await connection.ask_coordinator(request), 128)


SECTION = CheckSection(
    "admin/transactions",
    "Descriptions of producers and transactions",
    {
        1: _of_topic("A topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION.", "", 3),
        2: _of_topic(
            "A name that no topic can have gets INVALID_TOPIC_EXCEPTION.", "bad name", 17, 3
        ),
        3: _no_producers,
        4: _unknown_transaction,
        5: exchange(
            "An empty transactional id gets INVALID_REQUEST.",
            _TRANSACTIONS,
            send=DescribeTransactionsRequest(transactional_ids=("",)),
            expect=answers(42),
            differs=answers(105) | answers(16),
            role=_BROKER,
        ),
        6: _unknown_state,
        7: _bad_pattern,
    },
)
