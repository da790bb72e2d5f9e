"""Features in ApiVersions: what the server supports, and what the cluster has finalized.

KIP-584; from v3 of the answer on, in tagged fields. KIP-1022 hid features with minimum 0 from v3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kwire.conform.check import Check, CheckSection, scenario
from kwire.conform.expectation import expect
from kwire.conform.server import Server
from kwire.conform.vocabulary import (
    ConformanceVerdict,
    Deviation,
    SentenceSource,
    Skipped,
    kip,
    schema,
)
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.registry import api_key
from kwire.net.negotiation import NodeApiVersions, api_versions_request

SECTION = CheckSection("versions/kip-584", "Features in ApiVersions")

_RESPONSE = "ApiVersionsResponse"
_FROM_ZERO = 4
"""The first version that names features whose range begins with 0."""


async def _answer(server: Server, version: int | None = None) -> ApiVersionsResponse:
    """Return the answer in a version that has features."""
    connection = await server.connection()
    connection.demand(ApiVersionsRequest, 3 if version is None else version)
    answer: ApiVersionsResponse = await connection.ask(api_versions_request(), version)
    return answer


def holds(
    sentence: str,
    source: SentenceSource,
    expected: str,
    odd: Callable[[ApiVersionsResponse], Iterable[str]],
) -> Check:
    """Return a check of one answer. odd: the names of the features against the sentence."""

    async def run(server: Server) -> None:
        names = list(odd(await _answer(server)))
        expect(not names, expected, f"otherwise for {', '.join(names)}")

    return scenario(sentence, source)(run)


def _twice(names: Iterable[str]) -> list[str]:
    seen = list(names)
    return sorted({name for name in seen if seen.count(name) > 1})


def _outside(answer: ApiVersionsResponse, *, unknown: bool) -> Iterable[str]:
    versions = NodeApiVersions.of(answer)
    for name, level in versions.finalized_features.items():
        supported = versions.supported_features.get(name)
        if unknown if supported is None else level.max_version in supported:
            continue
        yield name


SECTION[1] = holds(
    "No supported feature is named twice.",
    schema(_RESPONSE, "SupportedFeatures"),
    "names given once",
    lambda answer: _twice(f.name for f in answer.supported_features),
)
SECTION[2] = holds(
    "No finalized feature is named twice.",
    schema(_RESPONSE, "FinalizedFeatures"),
    "names given once",
    lambda answer: _twice(f.name for f in answer.finalized_features),
)
SECTION[3] = holds(
    "A supported range begins with 0 or more and does not end before it begins.",
    schema(_RESPONSE, "SupportedFeatures"),
    "ranges in order",
    lambda answer: (
        f.name for f in answer.supported_features if not 0 <= f.min_version <= f.max_version
    ),
)
SECTION[4] = holds(
    "A finalized range begins with 1 or more and does not end before it begins.",
    kip(584, "Feature version levels"),
    "levels in order",
    lambda answer: (
        f.name
        for f in answer.finalized_features
        if not 1 <= f.min_version_level <= f.max_version_level
    ),
)


@SECTION.check(5, kip(584, "Guarantees"))
async def _(server: Server) -> None:
    """A server supports the level that its cluster has finalized."""
    answer = await _answer(server)
    # Before v4 the answer leaves out ranges that begin with 0.
    unknown = (await server.connection()).version_for(api_versions_request()) < _FROM_ZERO
    odd = list(_outside(answer, unknown=unknown))
    expect(not odd, "levels within the supported ranges", f"otherwise for {', '.join(odd)}")


@SECTION.check(6, kip(584, "Guarantees"))
async def _(server: Server) -> None:
    """The epoch of the finalized features never goes back."""
    epochs = [(await _answer(server)).finalized_features_epoch for _ in range(3)]
    expect(epochs == sorted(epochs), "epochs that do not fall", epochs)


@SECTION.check(7, schema(_RESPONSE, "FinalizedFeaturesEpoch"))
async def _(server: Server) -> None:
    """An epoch of -1 means that nothing is known; else it is 0 or more."""
    answer = await _answer(server)
    epoch = answer.finalized_features_epoch
    expect(epoch >= -1, "an epoch of -1 or more", epoch)
    expect(epoch >= 0 or not answer.finalized_features, "no levels with epoch -1", "levels")


def _features(answer: ApiVersionsResponse) -> list[tuple[str, int, int]]:
    supported = [(f.name, f.min_version, f.max_version) for f in answer.supported_features]
    finalized = answer.finalized_features
    levels = [(f.name, f.min_version_level, f.max_version_level) for f in finalized]
    # Before v4 the answer leaves out ranges that begin with 0.
    return sorted(levels) + sorted(feature for feature in supported if feature[1])


@SECTION.check(8, schema(_RESPONSE, "FinalizedFeatures"))
async def _(server: Server) -> None:
    """Every version of the answer finalizes the same levels."""
    first, last = _features(await _answer(server, 3)), _features(await _answer(server))
    expect(first == last, f"{first} as in v3", last)


@SECTION.check(9, schema(_RESPONSE, "SupportedFeatures"))
async def _(server: Server) -> None:
    """v3 names no feature whose range begins with 0."""
    answer = await _answer(server, 3)
    names = [f.name for f in answer.supported_features if f.min_version == 0]
    expect(not names, "no feature with minimum 0", ", ".join(names))


@SECTION.check(10, schema(_RESPONSE, "SupportedFeatures"))
async def _(server: Server) -> None:
    """From v4 on, features whose range begins with 0 are named."""
    full = await _answer(server, 4)
    old = {f.name for f in (await _answer(server, 3)).supported_features}
    expected = old | {f.name for f in full.supported_features if f.min_version == 0}
    names = {f.name for f in full.supported_features}
    expect(names == expected, f"v3's features and those with minimum 0: {expected}", names)
    if names == old:
        raise Deviation("features with minimum 0", "none", ConformanceVerdict.DIFFERS)


@SECTION.check(11, kip(778, "Public Interfaces"))
async def _(server: Server) -> None:
    """A cluster of KRaft has finalized metadata.version."""
    levels = NodeApiVersions.of(await _answer(server)).finalized_features
    if api_key("DescribeQuorum") not in server.target.versions.api_versions:
        raise Skipped("the server offers no DescribeQuorum: it is none of KRaft")
    came = f"levels of {', '.join(levels) or 'nothing'}"
    expect("metadata.version" in levels, "a level of metadata.version", came)
