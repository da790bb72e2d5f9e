"""ApiVersions lists what the server offers, and the server keeps to its list (KIP-35)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from kwire.conform.check import CheckSection, Member, exchange, family, in_each_version
from kwire.conform.expectation import answers, closes, expect, expect_equal, expect_error, judge
from kwire.conform.raw_frames import NO_TAGS, raw_header, sized
from kwire.conform.safe_requests import first_request
from kwire.conform.server import Server
from kwire.conform.vocabulary import guide, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.index import APIS
from kwire.messages.registry import api_key, api_name, request
from kwire.net.negotiation import api_versions_request

SECTION = CheckSection("versions/kip-35", "ApiVersions, and the versions that it lists")

_KEY = api_key("ApiVersions")
_LIST = guide("Retrieving Supported API versions")
_SASL = frozenset({api_key("SaslHandshake"), api_key("SaslAuthenticate")})


def lacks_itself(response: ApiVersionsResponse) -> str:
    """Return the keys that an answer lists if ApiVersions is not among them."""
    keys = [api.api_key for api in response.api_keys]
    return "" if _KEY in keys else f"keys {keys}"


def _keys_twice(response: ApiVersionsResponse) -> str:
    counts = Counter(api.api_key for api in response.api_keys)
    return ", ".join(f"key {key} {count} times" for key, count in counts.items() if count > 1)


def _bad_ranges(response: ApiVersionsResponse) -> str:
    return ", ".join(
        f"key {api.api_key} from {api.min_version} to {api.max_version}"
        for api in response.api_keys
        if not 0 <= api.min_version <= api.max_version
    )


def _disorder(response: ApiVersionsResponse) -> str:
    keys = [api.api_key for api in response.api_keys]
    return next((f"key {a} before key {b}" for a, b in pairwise(keys) if a > b), "")


@in_each_version(ApiVersionsRequest)
async def _each_version(server: Server, version: int) -> None:
    connection = await server.connection()
    reaction = await connection.exchange(api_versions_request(), version)
    judge(reaction, answers(ErrorCode.NONE, version=version))


SECTION[1] = family(
    "Each version of ApiVersions that is offered is answered.", _LIST, _each_version
)
SECTION[2] = exchange(
    "A server that answers ApiVersions offers it.",
    _LIST,
    send=api_versions_request(),
    expect=answers(ErrorCode.NONE, text="with ApiVersions in its list", lacks=lacks_itself),
)
SECTION[3] = exchange(
    "No API is listed twice.",
    schema("ApiVersionsResponse", "ApiKeys"),
    send=api_versions_request(),
    expect=answers(ErrorCode.NONE, text="without an API listed twice", lacks=_keys_twice),
)
SECTION[4] = exchange(
    "Every range begins with 0 or more and does not end before it begins.",
    schema("ApiVersionsResponse", "MinVersion"),
    send=api_versions_request(),
    expect=answers(ErrorCode.NONE, text="with ranges in order", lacks=_bad_ranges),
)
SECTION[5] = exchange(
    "The APIs come in the order of their keys.",
    kafka("ApiVersionsResponse"),
    send=api_versions_request(),
    expect=answers(ErrorCode.NONE, text="in the order of the keys", lacks=_disorder),
    differs=answers(ErrorCode.NONE),
)


@SECTION.check(6, _LIST)
async def _(server: Server) -> None:
    """Every version of the answer lists the same ranges."""
    connection = await server.connection()
    known = connection.version_for(ApiVersionsRequest())
    lists = {}
    for version in range(known + 1):
        answer = await connection.ask(api_versions_request(), version)
        lists[version] = Counter((k.api_key, k.min_version, k.max_version) for k in answer.api_keys)
    for version, ranges in lists.items():
        odd = [*(ranges - lists[0]), *(lists[0] - ranges)]
        expect(not odd, "the list of v0", f"in v{version} other (API, first, last): {odd[:5]}")


@SECTION.check(7, _LIST)
async def _(server: Server) -> None:
    """A client may ask as often as it wants, at any time."""
    first = await server.ask(api_versions_request(), 0)
    for _ in range(3):
        again = await server.ask(api_versions_request(), 0)
        expect_equal("number of APIs", len(again.api_keys), len(first.api_keys))


@SECTION.check(9, kip(511, "Public Interfaces"))
async def _(server: Server) -> None:
    """The answer has response header v0, also where the version is flexible."""
    connection = await server.connection()
    connection.demand(ApiVersionsRequest, 3)
    await connection.send(connection.frame(api_versions_request(), 3, correlation_id=5))
    frame = await connection.receive() or b""
    expect(frame[4:6] == b"\0\0", "error code 0 behind the correlation id", frame[:12].hex())
    judge(await connection.exchange(api_versions_request(), 3), answers(ErrorCode.NONE))


@SECTION.check(10, guide("Network"))
async def _(server: Server) -> None:
    """A connection may begin with a request other than ApiVersions."""
    body, version = first_request(server.target.versions)
    connection = await server.new_connection()
    judge(await connection.exchange(body, version), answers())
    expect_error(await connection.ask(api_versions_request(), 0), ErrorCode.NONE)


async def _refused(key: int, version: int, server: Server) -> None:
    connection = await server.connection()
    expected, refused = closes(), answers(ErrorCode.UNSUPPORTED_VERSION)
    server.allow(expected, refused)
    tags = NO_TAGS if version in request(key).flexible else None
    await connection.send(sized(raw_header(key, version, 1, tags=tags)))
    judge(await connection.reaction(key, version, 1), expected, refused)


def _above(server: Server) -> Iterator[Member]:
    for key, offered in server.target.versions.api_versions.items():
        if key in APIS and key != _KEY:
            version = offered.max_version + 1
            yield Member(id=f"{api_name(key)}-v{version}", run=partial(_refused, key, version))


SECTION[11] = family(
    "A version above those offered ends the connection.", guide("Compatibility"), _above
)


def _below(server: Server) -> Iterator[Member]:
    for key, offered in server.target.versions.api_versions.items():
        if key in APIS and key != _KEY:
            version = offered.min_version - 1
            yield Member(id=f"{api_name(key)}-v{version}", run=partial(_refused, key, version))


SECTION[12] = family(
    "A version below those offered ends the connection.", guide("Compatibility"), _below
)


def _not_offered(server: Server) -> Iterator[Member]:
    for key in APIS:
        if key not in server.target.versions.api_versions and key not in _SASL:
            version = request(key).versions.last
            yield Member(id=f"{api_name(key)}-v{version}", run=partial(_refused, key, version))


SECTION[13] = family(
    "An API that is not offered ends the connection.",
    kafka("SocketServer.parseRequestHeader"),
    _not_offered,
)
