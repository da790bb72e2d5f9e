"""Features in ApiVersions: what the server supports, and what the cluster has finalized.

KIP-584; from v3 of the answer on, in tagged fields. KIP-1022 hid features with minimum 0 from v3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kwire.conform.check import Check, CheckSection, scenario
from kwire.conform.expectation import expect
from kwire.conform.server import Server
from kwire.conform.source import SentenceSource, kip, schema
from kwire.conform.verdict import ConformanceVerdict, Deviation
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.net.negotiation import NodeApiVersions, api_versions_request

_RESPONSE = "ApiVersionsResponse"


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


def _outside(answer: ApiVersionsResponse) -> Iterable[str]:
    versions = NodeApiVersions.of(answer)
    for name, level in versions.finalized_features.items():
        supported = versions.supported_features.get(name)
        if supported is None or level.max_version not in supported:
            yield name


@scenario("The epoch of the finalized features never goes back.", kip(584, "Guarantees"))
async def _epoch(server: Server) -> None:
    epochs = [(await _answer(server)).finalized_features_epoch for _ in range(3)]
    expect(epochs == sorted(epochs), "epochs that do not fall", epochs)


@scenario("An epoch of -1 means that nothing is known; else it is 0 or more.", schema(_RESPONSE))
async def _epoch_known(server: Server) -> None:
    answer = await _answer(server)
    epoch = answer.finalized_features_epoch
    expect(epoch >= -1, "an epoch of -1 or more", epoch)
    expect(epoch >= 0 or not answer.finalized_features, "no levels with epoch -1", "levels")


@scenario("Every version of the answer finalizes the same levels.", kip(584))
async def _same_levels(server: Server) -> None:
    first = {f.name: f.max_version_level for f in (await _answer(server, 3)).finalized_features}
    last = {f.name: f.max_version_level for f in (await _answer(server)).finalized_features}
    expect(first == last, f"{first} as in v3", last)


@scenario("v3 names no feature whose range begins with 0.", kip(1022))
async def _hidden(server: Server) -> None:
    answer = await _answer(server, 3)
    names = [f.name for f in answer.supported_features if f.min_version == 0]
    expect(not names, "no feature with minimum 0", ", ".join(names))


@scenario("From v4 on, features whose range begins with 0 are named.", kip(1022))
async def _shown(server: Server) -> None:
    full = await _answer(server, 4)
    old = {f.name for f in (await _answer(server, 3)).supported_features}
    expected = old | {f.name for f in full.supported_features if f.min_version == 0}
    names = {f.name for f in full.supported_features}
    expect(names == expected, f"v3's features and those with minimum 0: {expected}", names)
    if names == old:
        raise Deviation("features with minimum 0", "none", ConformanceVerdict.DIFFERS)


@scenario("A cluster of KRaft has finalized metadata.version.", kip(778, "Public Interfaces"))
async def _metadata_version(server: Server) -> None:
    levels = NodeApiVersions.of(await _answer(server)).finalized_features
    if "metadata.version" not in levels:
        came = f"levels of {', '.join(levels) or 'nothing'}"
        raise Deviation("a level of metadata.version", came, ConformanceVerdict.DIFFERS)


SECTION = CheckSection(
    "versions/kip-584",
    "Features in ApiVersions",
    {
        1: holds(
            "No supported feature is named twice.",
            schema(_RESPONSE, "supported_features"),
            "names given once",
            lambda answer: _twice(f.name for f in answer.supported_features),
        ),
        2: holds(
            "No finalized feature is named twice.",
            schema(_RESPONSE, "finalized_features"),
            "names given once",
            lambda answer: _twice(f.name for f in answer.finalized_features),
        ),
        3: holds(
            "A supported range begins with 0 or more and does not end before it begins.",
            kip(584, "Feature versions"),
            "ranges in order",
            lambda answer: (
                f.name for f in answer.supported_features if not 0 <= f.min_version <= f.max_version
            ),
        ),
        4: holds(
            "A finalized range begins with 1 or more and does not end before it begins.",
            kip(584, "Feature version levels"),
            "levels in order",
            lambda answer: (
                f.name
                for f in answer.finalized_features
                if not 1 <= f.min_version_level <= f.max_version_level
            ),
        ),
        5: holds(
            "A server supports the level that its cluster has finalized.",
            kip(584, "Guarantees"),
            "levels within the supported ranges",
            _outside,
        ),
        6: _epoch,
        7: _epoch_known,
        8: _same_levels,
        9: _hidden,
        10: _shown,
        11: _metadata_version,
    },
)
