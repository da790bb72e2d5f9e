"""ApiVersions: the fallback from a version the server does not know, and the client's software.

KIP-511; in Kafka ApiVersionsRequest.isValid and RequestContext.parseRequest.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kwire.conform.check import Check, CheckSection, Member, exchange, family, gets
from kwire.conform.checks.versions.kip_35 import lacks_itself
from kwire.conform.expectation import answers, closes, expect_equal, expect_error, judge
from kwire.conform.server import Server
from kwire.conform.vocabulary import guide, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.registry import api_key
from kwire.net.negotiation import NodeApiVersions, api_versions_request

SECTION = CheckSection(
    "versions/kip-511",
    "ApiVersions in a version that the server does not know; the client's software",
)

_KEY = api_key("ApiVersions")
_CHANGES = kip(511, "Proposed Changes")
_INVALID = {
    "empty": "",
    "blank": "a b",
    "dash-first": "-a",
    "dot-last": "a.",
    "underscore": "a_b",
    "slash": "a/b",
    "umlaut": "\u00e4",
}
"""Names of software that KIP-511's pattern refuses: letters and digits, inside also - and dots."""
_VALID = {"letter": "a", "digit": "7", "inside": "A.b-9", "long": "a" * 1000}


def _range(response: ApiVersionsResponse) -> str:
    return str(NodeApiVersions.of(response).api_versions.get(_KEY, "none"))


SECTION[1] = exchange(
    "A broker that does not know the version answers UNSUPPORTED_VERSION in v0.",
    kip(511, "Compatibility, Deprecation, and Migration Plan"),
    send=api_versions_request(),
    version=99,
    expect=answers(ErrorCode.UNSUPPORTED_VERSION, version=0),
)
SECTION[2] = exchange(
    "Beside UNSUPPORTED_VERSION stands the range of ApiVersions itself.",
    _CHANGES,
    send=api_versions_request(),
    version=99,
    expect=answers(
        ErrorCode.UNSUPPORTED_VERSION, text="with ApiVersions in its list", lacks=lacks_itself
    ),
)


@SECTION.check(3, _CHANGES)
async def _(server: Server) -> None:
    """The range beside UNSUPPORTED_VERSION is the one of the full answer."""
    connection = await server.connection()
    full = await connection.ask(api_versions_request(), 0)
    reaction = await connection.exchange(api_versions_request(), 99)
    judge(reaction, answers(ErrorCode.UNSUPPORTED_VERSION, version=0))
    assert isinstance(reaction.body, ApiVersionsResponse)
    expect_equal("range", _range(reaction.body), _range(full))


@SECTION.check(4, _CHANGES)
async def _(server: Server) -> None:
    """After UNSUPPORTED_VERSION a client asks again on the same connection."""
    connection = await server.connection()
    for version in (99, 98):
        judge(
            await connection.exchange(api_versions_request(), version),
            answers(ErrorCode.UNSUPPORTED_VERSION, version=0),
        )
    expect_error(await connection.ask(api_versions_request()), ErrorCode.NONE)


@SECTION.check(5, _CHANGES)
async def _(server: Server) -> None:
    """The version above the last one offered is answered like any unknown version."""
    connection = await server.connection()
    offered = connection.versions.api_versions[_KEY]
    reaction = await connection.exchange(api_versions_request(), offered.max_version + 1)
    judge(reaction, answers(ErrorCode.UNSUPPORTED_VERSION, version=0))


SECTION[6] = exchange(
    "A negative version is answered like any unknown version.",
    kafka("RequestContext.parseRequest"),
    send=api_versions_request(),
    version=-1,
    expect=answers(ErrorCode.UNSUPPORTED_VERSION, version=0),
)


@SECTION.check(7, kafka("RequestContext.parseRequest"))
async def _(server: Server) -> None:
    """Only the header of a request in an unknown version is read."""
    connection = await server.connection()
    frame = connection.frame(api_versions_request(), 99, correlation_id=7)
    broken = frame[:-8] + b"\xff" * 8
    await connection.send(broken)
    server.allow(closes())
    judge(
        await connection.reaction(_KEY, 99, 7),
        answers(ErrorCode.UNSUPPORTED_VERSION, version=0),
        closes(),
    )


def software(sentence: str, field: str, values: dict[str, str], code: int) -> Check:
    """Return a family of values for one of the two fields that name a client's software."""

    async def ask(value: str, server: Server) -> None:
        connection = await server.connection()
        connection.demand(ApiVersionsRequest, 3)
        request = api_versions_request()
        setattr(request, field, value)
        judge(await connection.exchange(request, 3), answers(code, version=3))

    def members(server: Server) -> Iterator[Member]:
        for name, value in values.items():
            yield Member(id=name, run=partial(ask, value))

    return family(gets(sentence, code), _CHANGES, members)


SECTION[8] = software(
    "A software name outside the pattern gets",
    "client_software_name",
    _INVALID,
    ErrorCode.INVALID_REQUEST,
)
SECTION[9] = software(
    "A software version outside the pattern gets",
    "client_software_version",
    _INVALID,
    ErrorCode.INVALID_REQUEST,
)
SECTION[10] = software(
    "A software name within the pattern is accepted.",
    "client_software_name",
    _VALID,
    ErrorCode.NONE,
)
SECTION[11] = software(
    "A software version within the pattern is accepted.",
    "client_software_version",
    _VALID,
    ErrorCode.NONE,
)


@SECTION.check(12, guide("Network"))
async def _(server: Server) -> None:
    """After INVALID_REQUEST a client asks again on the same connection."""
    connection = await server.connection()
    bad = ApiVersionsRequest(client_software_name="a b", client_software_version="1")
    expect_error(await connection.ask(bad, 3), ErrorCode.INVALID_REQUEST)
    expect_error(await connection.ask(api_versions_request(), 3), ErrorCode.NONE)
