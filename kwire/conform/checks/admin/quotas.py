"""Client quotas (KIP-546, KIP-612; Java: ClientQuotaControlManager, ClientQuotasImage)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import Check, CheckSection, exchange, gets, scenario
from kwire.conform.expectation import answers, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, SentenceSource, ServerRole, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a48_describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from kwire.messages.a49_alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)

SECTION = CheckSection("admin/quotas", "Client quotas")

_EXACT, _DEFAULT, _ANY, _NO_MATCH = 0, 1, 2, 9
_RATE = "producer_byte_rate"
_FILTERS = kip(546, "DescribeClientQuotas")
_ENTITY = kafka("ClientQuotaControlManager.validateEntity")
_JAVA = kafka("ClientQuotaControlManager.alterClientQuotaEntity")


def _filter(*components: tuple[str, int, str | None]) -> DescribeClientQuotasRequest:
    return DescribeClientQuotasRequest(
        components=[
            ComponentData(entity_type=kind, match_type=match, match=name)
            for kind, match, name in components
        ]
    )


def _bad_filter(sentence: str, code: int, *components: tuple[str, int, str | None]) -> Check:
    return exchange(
        gets(sentence, code),
        _FILTERS,
        send=_filter(*components),
        expect=answers(code),
        role=ServerRole.BROKER,
    )


def _entry(
    entity: dict[str, str | None], key: str, value: float, remove: bool = False
) -> EntryData:
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[OpData(key=key, value=value, remove=remove)],
    )


async def _alter(server: Server, *entries: EntryData, validate_only: bool = True) -> Any:
    request = AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)
    return await server.ask_controller(request)


def _bad_quota(
    sentence: str,
    source: SentenceSource,
    entity: dict[str, str | None],
    key: str = _RATE,
    value: float = 1.0,
) -> Check:
    @scenario(gets(sentence, ErrorCode.INVALID_REQUEST), source)
    async def check(server: Server) -> None:
        expect_error(await _alter(server, _entry(entity, key, value)), ErrorCode.INVALID_REQUEST)

    return check


async def _quotas(server: Server, user: str) -> list[tuple[str, float]]:
    answer = await server.ask(_filter(("user", _EXACT, user)))
    expect_error(answer, ErrorCode.NONE)
    return [(value.key, value.value) for entry in answer.entries or () for value in entry.values]


SECTION[2] = _bad_filter(
    "A filter on a type without a name gets", ErrorCode.INVALID_REQUEST, ("", _EXACT, "x")
)
SECTION[3] = _bad_filter(
    "A match type that does not exist gets", ErrorCode.INVALID_REQUEST, ("user", _NO_MATCH, "x")
)
SECTION[4] = _bad_filter(
    "A filter with a type twice gets",
    ErrorCode.INVALID_REQUEST,
    ("user", _EXACT, "x"),
    ("user", _EXACT, "y"),
)
SECTION[5] = _bad_filter(
    "An exact match without a name gets", ErrorCode.INVALID_REQUEST, ("user", _EXACT, None)
)
SECTION[6] = _bad_filter(
    "A match of the default with a name gets", ErrorCode.INVALID_REQUEST, ("user", _DEFAULT, "x")
)
SECTION[7] = _bad_filter(
    "A match of any with a name gets", ErrorCode.INVALID_REQUEST, ("user", _ANY, "x")
)
SECTION[8] = exchange(
    "A filter on addresses and users together gets",
    kip(612, "Public Interfaces"),
    send=_filter(("user", _ANY, None), ("ip", _ANY, None)),
    expect=answers(ErrorCode.INVALID_REQUEST),
    differs=answers(ErrorCode.NONE),
    role=ServerRole.BROKER,
)
SECTION[9] = _bad_quota("A quota that does not exist gets", _JAVA, {"user": "x"}, "no_such_quota")
SECTION[10] = _bad_quota("A type of entity that does not exist gets", _ENTITY, {"planet": "x"})
SECTION[11] = _bad_quota("A quota without an entity gets", _ENTITY, {})
SECTION[12] = _bad_quota("An entity with an empty name gets", _ENTITY, {"user": ""})
SECTION[13] = _bad_quota("A negative quota gets", _JAVA, {"user": "x"}, value=-1.0)
SECTION[14] = _bad_quota("A quota with a fraction of a byte gets", _JAVA, {"user": "x"}, value=1.5)
SECTION[15] = _bad_quota(
    "A quota of an address and a user together gets",
    kip(612, "Public Interfaces"),
    {"user": "x", "ip": "127.0.0.1"},
    "connection_creation_rate",
)


@SECTION.refuses(
    16,
    kafka("ClientQuotaControlManager.alterClientQuotas"),
    ErrorCode.INVALID_REQUEST,
    differs=(ErrorCode.NONE,),
    needs=Need.NOTHING,
)
async def _(server: Server) -> Any:
    """An entity that stands twice in a request gets"""
    entry = _entry({"user": server.name()}, _RATE, 1)
    return await _alter(server, entry, entry)


@SECTION.check(17, kip(546, "AlterClientQuotas"))
async def _(server: Server) -> None:
    """One entity's error does not keep another's quota from being set."""
    good, bad = server.name(), server.name()
    entries = [_entry({"user": good}, _RATE, 1), _entry({"user": bad}, "no_such_quota", 1)]
    answer = await _alter(server, *entries)
    codes = {entry.entity[0].entity_name: entry.error_code for entry in answer.entries}
    expect_equal("errors", codes, {good: ErrorCode.NONE, bad: ErrorCode.INVALID_REQUEST})


@SECTION.broker_check(18, _FILTERS)
async def _(server: Server) -> None:
    """A quota that was set is soon described, and gone once it is removed."""
    user = server.name()
    (await server.connection()).demand_since(DescribeClientQuotasRequest, 0)

    async def remove() -> None:
        await _alter(server, _entry({"user": user}, _RATE, 0, True), validate_only=False)

    async def has(quotas: list[tuple[str, float]]) -> bool:
        return await _quotas(server, user) == quotas

    server.remove_afterwards(f"quota of user {user}", remove)
    entry = _entry({"user": user}, _RATE, 4096)
    expect_error(await _alter(server, entry, validate_only=False), ErrorCode.NONE)
    await server.wait_for("the quota", lambda: has([(_RATE, 4096.0)]))
    await remove()
    await server.wait_for("no quota", lambda: has([]))


@SECTION.broker_check(19, kip(546, "AlterClientQuotas"))
async def _(server: Server) -> None:
    """A quota that is only validated is not set."""
    user, other = server.name(), server.name()

    async def remove() -> None:
        entries = [_entry({"user": name}, _RATE, 0, True) for name in (user, other)]
        await _alter(server, *entries, validate_only=False)

    server.remove_afterwards(f"quotas of users {user}, {other}", remove)
    expect_error(await _alter(server, _entry({"user": user}, _RATE, 4096)), ErrorCode.NONE)
    # a later one that is set shows when the first would have been
    entry = _entry({"user": other}, _RATE, 4096)
    expect_error(await _alter(server, entry, validate_only=False), ErrorCode.NONE)

    async def is_set() -> bool:
        return bool(await _quotas(server, other))

    await server.wait_for("the other quota", is_set)
    expect_equal("quotas", await _quotas(server, user), [])
