"""InitProducerId: ids, epochs, and the fencing of older producers (KIP-98, KIP-360, KIP-588)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, broker_scenario, exchange
from kwire.conform.checks.producers.producer import init_producer_id, settled_init
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import answers, expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import ServerRole, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a22_init_producer_id import InitProducerIdRequest

SECTION = CheckSection("producers/ids", "Producer ids and epochs")

_WITH_EPOCH = 3
"""The first version in which a producer names the id and the epoch that it has (KIP-360)."""
_FENCED = 4
"""The first version in which a fenced producer has an error of its own (KIP-588)."""


async def _transactional(server: Server) -> tuple[CheckedConnection, str, Any]:
    """Initialise a new transactional id; return its coordinator, the id and the answer."""
    name = server.name()
    coordinator = await server.coordinator(name, of_transactions=True)
    answer = await settled_init(server, coordinator, transactional_id=name)
    expect_error(answer, ErrorCode.NONE)
    return coordinator, name, answer


@SECTION.broker_check(1, kip(98, "InitPidRequest"))
async def _(server: Server) -> None:
    """A producer without a transactional id gets an id of its own and the epoch 0."""
    answer = await settled_init(server, await server.connection())
    expect_error(answer, ErrorCode.NONE)
    expect(answer.producer_id >= 0, "a producer id", answer.producer_id)
    expect_equal("epoch", answer.producer_epoch, 0)


@SECTION.broker_check(2, kip(98, "Producer ID Assignment"))
async def _(server: Server) -> None:
    """No two producers get the same producer id."""
    connection = await server.connection()
    ids = [(await settled_init(server, connection)).producer_id for _ in range(5)]
    name = server.name()
    coordinator = await server.coordinator(name, of_transactions=True)
    ids.append((await settled_init(server, coordinator, transactional_id=name)).producer_id)
    expect(len(set(ids)) == len(ids), "six producer ids", ids)


SECTION[3] = exchange(
    "An empty transactional id gets",
    kafka("TransactionCoordinator.handleInitProducerId"),
    send=InitProducerIdRequest(transactional_id="", transaction_timeout_ms=60_000),
    expect=answers(ErrorCode.INVALID_REQUEST),
    role=ServerRole.BROKER,
)


def _refuses_timeout(milliseconds: int, *differs: ErrorCode) -> Any:
    @broker_scenario(
        f"A transaction timeout of {milliseconds} ms gets INVALID_TRANSACTION_TIMEOUT.",
        kip(98, "InitPidRequest"),
    )
    async def refuses(server: Server) -> None:
        name = server.name()
        coordinator = await server.coordinator(name, of_transactions=True)
        fields: dict[str, Any] = {"transactional_id": name, "transaction_timeout_ms": milliseconds}
        expect_error(
            await settled_init(server, coordinator, **fields),
            ErrorCode.INVALID_TRANSACTION_TIMEOUT,
            differs=differs,
        )

    return refuses


SECTION[4] = _refuses_timeout(0)
SECTION[5] = _refuses_timeout(-1)
SECTION[6] = _refuses_timeout(2**31 - 1, ErrorCode.NONE)  # the greatest transaction.max.timeout.ms


@SECTION.broker_check(7, kip(98, "InitPidRequest"))
async def _(server: Server) -> None:
    """A transactional id that is initialised again keeps its producer id, with the next epoch."""
    coordinator, name, first = await _transactional(server)
    second = await settled_init(server, coordinator, transactional_id=name)
    expect_error(second, ErrorCode.NONE)
    expect_equal("producer id", second.producer_id, first.producer_id)
    expect_equal("epoch", second.producer_epoch, first.producer_epoch + 1)


@SECTION.broker_check(8, kip(98, "Producer ID Assignment"))
async def _(server: Server) -> None:
    """Two transactional ids have different producer ids."""
    _, _, first = await _transactional(server)
    _, _, second = await _transactional(server)
    expect(first.producer_id != second.producer_id, "two producer ids", second.producer_id)


async def _again(
    coordinator: CheckedConnection,
    name: str,
    producer_id: int,
    epoch: int,
    version: int | None = None,
) -> Any:
    coordinator.demand(InitProducerIdRequest, _WITH_EPOCH)
    fields = {"producer_id": producer_id, "producer_epoch": epoch, "transactional_id": name}
    return await init_producer_id(coordinator, version, **fields)


@SECTION.broker_check(9, kip(360, "Proposed Changes"))
async def _(server: Server) -> None:
    """A producer that names its id and its current epoch gets the same id with the next epoch."""
    coordinator, name, first = await _transactional(server)
    second = await _again(coordinator, name, first.producer_id, first.producer_epoch)
    expect_error(second, ErrorCode.NONE)
    expect_equal("producer id", second.producer_id, first.producer_id)
    expect_equal("epoch", second.producer_epoch, first.producer_epoch + 1)


@SECTION.broker_check(10, kip(360, "Proposed Changes"))
async def _(server: Server) -> None:
    """A repeated request with the epoch before the current one gets the current one again."""
    coordinator, name, first = await _transactional(server)
    second = await _again(coordinator, name, first.producer_id, first.producer_epoch)
    third = await _again(coordinator, name, first.producer_id, first.producer_epoch)
    expect_error(third, ErrorCode.NONE)
    expect_equal("epoch", third.producer_epoch, second.producer_epoch)


def _refuses_fenced(version: int, code: ErrorCode) -> Any:
    @broker_scenario(
        f"A producer whose epoch is not the current one gets {code.name} in v{version}.",
        kip(588, "Proposed Changes") if version >= _FENCED else kip(360, "Proposed Changes"),
    )
    async def refuses(server: Server) -> None:
        coordinator, name, first = await _transactional(server)
        for _ in range(2):  # the epoch right before the current one would be a repeated request
            await settled_init(server, coordinator, transactional_id=name)
        fenced = await _again(coordinator, name, first.producer_id, first.producer_epoch, version)
        expect_error(fenced, code)

    return refuses


SECTION[11] = _refuses_fenced(_WITH_EPOCH, ErrorCode.INVALID_PRODUCER_EPOCH)
SECTION[12] = _refuses_fenced(_FENCED, ErrorCode.PRODUCER_FENCED)


@SECTION.broker_refuses(13, kip(588, "Proposed Changes"), ErrorCode.PRODUCER_FENCED)
async def _(server: Server) -> Any:
    """From v4 on a producer id that is not the transactional id's gets"""
    coordinator, name, first = await _transactional(server)
    _, _, other = await _transactional(server)
    return await _again(coordinator, name, other.producer_id, first.producer_epoch, _FENCED)


@SECTION.broker_check(14, kip(360, "Proposed Changes"))
async def _(server: Server) -> None:
    """A producer without a transactional id that names an id and an epoch gets a new id."""
    connection = await server.connection()
    connection.demand(InitProducerIdRequest, _WITH_EPOCH)
    first = await settled_init(server, connection)
    again = {"producer_id": first.producer_id, "producer_epoch": first.producer_epoch}
    second = await settled_init(server, connection, **again)
    expect_error(second, ErrorCode.NONE)
    expect(second.producer_id != first.producer_id, "another producer id", second.producer_id)


def _half(what: str, **fields: int) -> Any:
    @broker_scenario(
        f"{what} gets INVALID_REQUEST.", schema("InitProducerIdRequest", "ProducerEpoch")
    )
    async def refuses(server: Server) -> None:
        name = server.name()
        coordinator = await server.coordinator(name, of_transactions=True)
        coordinator.demand(InitProducerIdRequest, _WITH_EPOCH)
        answer = await settled_init(server, coordinator, transactional_id=name, **fields)
        expect_error(answer, ErrorCode.INVALID_REQUEST)

    return refuses


SECTION[15] = _half("A producer id without its epoch", producer_id=1)
SECTION[16] = _half("An epoch without its producer id", producer_epoch=1)


@SECTION.broker_check(17, kip(360, "Proposed Changes"))
async def _(server: Server) -> None:
    """A transactional id that was not initialised gets a new id, whatever the request names."""
    name = server.name()
    coordinator = await server.coordinator(name, of_transactions=True)
    coordinator.demand(InitProducerIdRequest, _WITH_EPOCH)
    fields: dict[str, Any] = {"transactional_id": name, "producer_id": 2**40, "producer_epoch": 3}
    answer = await settled_init(server, coordinator, **fields)
    expect_error(
        answer,
        ErrorCode.NONE,
        differs=(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
            ErrorCode.PRODUCER_FENCED,
        ),
    )
    expect(answer.producer_id != 2**40, "a producer id of the server", answer.producer_id)
    expect_equal("epoch", answer.producer_epoch, 0)
