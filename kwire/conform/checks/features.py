"""Features: what ApiVersions says of them, and what UpdateFeatures refuses (KIP-584, KIP-1022)."""

from __future__ import annotations

from kwire.conform.check import Check, CheckSection, scenario
from kwire.conform.expectation import expect_equal, expect_error, expect_refused
from kwire.conform.quorum import DescribedQuorum, describe_quorum, features_of
from kwire.conform.server import Server
from kwire.conform.vocabulary import SentenceSource, ServerRole, Skipped, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest

SECTION = CheckSection("features/kip-584", "Features and their levels")

_UPDATE = kip(584, "Feature versioning system")
_METADATA = "metadata.version"
_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE, _UNKNOWN_TYPE = 1, 2, 3, 9
_REFUSED = (ErrorCode.INVALID_UPDATE_VERSION,)
"""What Kafka answers; no document has the code."""


def _update(
    feature: str, level: int, kind: int = _UPGRADE, *, validate_only: bool = True
) -> UpdateFeaturesRequest:
    key = FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=kind)
    return UpdateFeaturesRequest(
        feature_updates=[key], validate_only=validate_only, timeout_ms=10_000
    )


def _validated(
    sentence: str,
    source: SentenceSource,
    request: UpdateFeaturesRequest,
    kraft_version: int | None = None,
) -> Check:
    @scenario(sentence, source, role=ServerRole.CONTROLLER)
    async def refused(server: Server) -> None:
        quorum = await describe_quorum(server)
        if kraft_version is not None:
            await quorum.demand_kraft_version(kraft_version)
        expect_refused(await quorum.connection.ask(request, 1), *_REFUSED)

    return refused


async def _level(server: Server) -> tuple[DescribedQuorum, int]:
    """Return the quorum, and its finalized metadata.version. Raises Skipped without one."""
    quorum = await describe_quorum(server)
    quorum.connection.demand(UpdateFeaturesRequest, 1)
    finalized = (await features_of(quorum.connection)).finalized_features.get(_METADATA)
    if finalized is None:
        raise Skipped("no metadata.version is finalized")
    return quorum, finalized.max_version


SECTION[5] = _validated(
    "An unknown feature cannot be finalized.", _UPDATE, _update("kwire.conform", 1)
)
SECTION[6] = _validated(
    "A level that is not supported cannot be finalized.", _UPDATE, _update(_METADATA, 32_000)
)


@SECTION.check(7, kip(584, "Downgrade"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A level can be lowered by a downgrade only."""
    quorum, level = await _level(server)
    supported = (await features_of(quorum.connection)).supported_features.get(_METADATA)
    if supported is None or level - 1 not in supported:
        raise Skipped(f"the controller supports no level below {level}")
    expect_refused(await quorum.connection.ask(_update(_METADATA, level - 1)), *_REFUSED)


SECTION[8] = _validated("A level below 0 cannot be finalized.", _UPDATE, _update(_METADATA, -1))


@SECTION.check(9, kip(778, "UpdateFeatures"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """An unknown upgrade type is refused."""
    quorum, level = await _level(server)  # which nothing else is wrong with
    answer = await quorum.connection.ask(_update(_METADATA, level, _UNKNOWN_TYPE))
    expect_refused(answer, *_REFUSED, ErrorCode.INVALID_REQUEST)


SECTION[10] = _validated(
    "metadata.version cannot be deleted.",
    kip(778, "Downgrade"),
    _update(_METADATA, 0, _UNSAFE_DOWNGRADE),
)
SECTION[11] = _validated(
    "kraft.version cannot go back to 0.",
    kip(853, "UpdateFeatures, Handling"),
    _update("kraft.version", 0, _UNSAFE_DOWNGRADE),
    kraft_version=1,
)
SECTION[12] = _validated(
    "A kraft.version that is not supported cannot be finalized.",
    kip(853, "KRaft version"),
    _update("kraft.version", 9),
)


@SECTION.check(13, kip(778, "UpdateFeatures"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A request that is only validated changes nothing."""
    quorum = await describe_quorum(server)
    quorum.connection.demand(UpdateFeaturesRequest, 1)
    before = await features_of(quorum.connection)
    # A level that can be raised or lowered; which one does not matter.
    ranges = before.supported_features
    changeable = [
        (name, other)
        for name, level in before.finalized_features.items()
        for other in (level.max_version - 1, level.max_version + 1)
        if name in ranges and other in ranges[name] and name not in (_METADATA, "kraft.version")
    ]
    if not changeable:
        raise Skipped("no feature has a second level")
    name, level = changeable[0]
    kind = _UPGRADE if level > before.finalized_features[name].max_version else _SAFE_DOWNGRADE
    expect_error(await quorum.connection.ask(_update(name, level, kind)), ErrorCode.NONE)
    after = await features_of(quorum.connection)
    expect_equal(name, after.finalized_features.get(name), before.finalized_features[name])
