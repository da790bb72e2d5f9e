"""Answers to every advertised pair of an API and a version: whole, byte for byte, consistent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from kwire.codec.declaration import Request
from kwire.conform.answer import read_answer
from kwire.conform.check import CheckSection, Member, family
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import answers, closes, error_codes, expect, judge
from kwire.conform.raw_frames import tagged_fields
from kwire.conform.safe_requests import UNSAFE_APIS, safe_request
from kwire.conform.server import Server
from kwire.conform.vocabulary import (
    ConformanceVerdict,
    Deviation,
    Skipped,
    guide,
    kafka,
    kip,
    schema,
)
from kwire.error_codes import ErrorCode
from kwire.messages.index import APIS
from kwire.messages.registry import api_key, api_name, request, response

SECTION = CheckSection("pairs/answers", "Every pair of an API and a version that is offered")

_PRODUCE = api_key("Produce")
_SASL = frozenset({api_key("SaslHandshake"), api_key("SaslAuthenticate")})
_UNKNOWN_TAG = 7_777

Pair = Callable[[int, int, Server], Awaitable[None]]
"""Checks an API in a version."""


def pairs(
    check: Pair,
    wanted: Callable[[int, int], bool] = lambda key, version: True,
    *,
    last_only: bool = False,
) -> Callable[[Server], Iterator[Member]]:
    """Return the members of a family: every pair that the server offers, or each API's last."""

    def members(server: Server) -> Iterator[Member]:
        for key, offered in sorted(server.target.versions.api_versions.items()):
            if key not in APIS:
                yield Member(id=f"API-{key}", run=_unknown)
                continue
            known = [v for v in request(key).versions if v in offered and not _lied_about(key, v)]
            for version in known[-1:] if last_only else known:
                if wanted(key, version):
                    member_id = f"{api_name(key)}-v{version}"
                    yield Member(id=member_id, run=partial(check, key, version))

    return members


def _lied_about(key: int, version: int) -> bool:
    """True for Produce below v3, listed for an old librdkafka (KIP-896); a check of its own."""
    return key == _PRODUCE and version < 3


async def _unknown(server: Server) -> None:
    raise Skipped("kwire has no declaration of this API")


async def _prepare(key: int, version: int, server: Server) -> tuple[CheckedConnection, Request]:
    """Return a connection and the request. Raises Skipped if no request is safe."""
    body = safe_request(key, version)
    if body is None:
        raise Skipped(f"it is not asked: {UNSAFE_APIS[api_name(key)]}")
    if key in _SASL and server.target.security.sasl is not None:
        raise Skipped("the connection is logged in")
    return await server.connection(), body


async def _ask(key: int, version: int, server: Server) -> Any:
    connection, body = await _prepare(key, version, server)
    return await connection.ask(body, version)


async def _exact(key: int, version: int, server: Server) -> None:
    connection, body = await _prepare(key, version, server)
    reaction = await connection.exchange(body, version, patience=10)
    judge(reaction, answers())
    if reaction.own_encoding:
        came, differs = reaction.own_encoding, ConformanceVerdict.DIFFERS
        raise Deviation("the bytes that Kafka writes", came, differs)


async def _twice(key: int, version: int, server: Server) -> None:
    await _ask(key, version, server)
    await _ask(key, version, server)


async def _throttle(key: int, version: int, server: Server) -> None:
    answer = await _ask(key, version, server)
    expect(answer.throttle_time_ms >= 0, "0 ms or more", f"{answer.throttle_time_ms} ms")


async def _known_codes(key: int, version: int, server: Server) -> None:
    codes = set(error_codes(await _ask(key, version, server)))
    unknown = sorted(codes - set(ErrorCode))
    if unknown:
        raise Deviation("codes of Kafka's table", str(unknown), ConformanceVerdict.DIFFERS)


async def _supported(key: int, version: int, server: Server) -> None:
    codes = set(error_codes(await _ask(key, version, server)))
    expect(-1 not in codes, "an answer of the API's own", "error -1 UNKNOWN_SERVER_ERROR")


async def _tag_in_body(key: int, version: int, server: Server) -> None:
    """Append a tagged field that no schema has: the last byte says how many follow."""
    connection, body = await _prepare(key, version, server)
    body.unknown_tags = {_UNKNOWN_TAG: b"kwire"}
    judge(await connection.exchange(body, version, patience=10), answers())


async def _tag_in_header(key: int, version: int, server: Server) -> None:
    connection, body = await _prepare(key, version, server)
    plain = connection.frame(body, version, correlation_id=9)[4:]
    header_end = 8 + 2 + len(connection.client_id or "")
    assert plain[header_end] == 0, "the header has tagged fields"
    tags = tagged_fields([(_UNKNOWN_TAG, b"kwire")])
    frame = plain[:header_end] + tags + plain[header_end + 1 :]
    await connection.send(len(frame).to_bytes(4, "big") + frame)
    answer = await connection.receive(10) or b""
    judge(read_answer(answer, key, version, 9), answers())


async def _left_over(key: int, version: int, server: Server) -> None:
    connection, body = await _prepare(key, version, server)
    frame = connection.frame(body, version, correlation_id=9)[4:] + b"kwire"
    await connection.send(len(frame).to_bytes(4, "big") + frame)
    reaction = await connection.reaction(key, version, 9, 10)
    if reaction.frame is None and reaction.connection.ended:
        server.allowed_ends = frozenset({reaction.connection})
        raise Deviation("the bytes ignored", str(reaction), ConformanceVerdict.DIFFERS)
    judge(reaction, answers())


def _flexible(key: int, version: int) -> bool:
    return version in request(key).flexible


def _throttles(key: int, version: int) -> bool:
    field = response(key).fields.get("throttle_time_ms")
    return field is not None and version in field.versions


async def _answered_or_ended(version: int, server: Server) -> None:
    """Ask as librdkafka may, for which Kafka 4 lists versions that it rejects (KAFKA-18659)."""
    connection, body = await _prepare(_PRODUCE, version, server)
    server.allow(closes())
    judge(await connection.exchange(body, version, patience=10), answers() | closes())


def _old_produce(server: Server) -> Iterator[Member]:
    offered = server.target.versions.api_versions.get(_PRODUCE)
    for version in range(3):
        if offered is not None and version in offered:
            yield Member(id=f"Produce-v{version}", run=partial(_answered_or_ended, version))


SECTION[1] = family(
    "The answer is what its schema says, byte for byte.", guide("The Messages"), pairs(_exact)
)
SECTION[2] = family(
    "A connection takes the same request again.", guide("Network"), pairs(_twice, last_only=True)
)
SECTION[3] = family(
    "A throttle time is 0 or more.",
    guide("The Messages"),
    pairs(_throttle, _throttles, last_only=True),
)
SECTION[4] = family(
    "Error codes are those of Kafka's table.",
    guide("Error Codes"),
    pairs(_known_codes, last_only=True),
)
SECTION[5] = family(
    "An API that is listed is served, not answered with UNKNOWN_SERVER_ERROR.",
    guide("Retrieving Supported API versions"),
    pairs(_supported, last_only=True),
)
SECTION[6] = family(
    "A tagged field that the server does not know is ignored in a body.",
    kip(482, "Tagged Fields"),
    pairs(_tag_in_body, _flexible),
)
SECTION[7] = family(
    "A tagged field that the server does not know is ignored in a header.",
    kip(482, "Tagged Fields"),
    pairs(_tag_in_header, _flexible),
)
SECTION[8] = family(
    "Bytes behind the request are ignored.",
    kafka("RequestContext.parseRequest"),
    pairs(_left_over, last_only=True),
)
SECTION[9] = family(
    "Produce below v3, where it is listed, is answered or ends the connection.",
    schema("ProduceRequest"),
    _old_produce,
)
