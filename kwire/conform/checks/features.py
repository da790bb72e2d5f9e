"""Features: what ApiVersions says of them, and what UpdateFeatures refuses (KIP-584, KIP-1022)."""

from __future__ import annotations

from kwire.conform.check import Check, CheckSection
from kwire.conform.expectation import Expectation, answers, expect, expect_equal, expect_error
from kwire.conform.quorum import describe_quorum, features_of, leader_exchange
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation, SentenceSource, ServerRole, Skipped, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest

SECTION = CheckSection("features/kip-584", "Features and their levels")

_UPDATE = kip(584, "Feature versioning system")
_METADATA = "metadata.version"
_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE, _UNKNOWN_TYPE = 1, 2, 3, 9
_REFUSED = answers(ErrorCode.INVALID_UPDATE_VERSION)


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
    expected: Expectation,
    kraft_version: int | None = None,
) -> Check:
    return leader_exchange(
        sentence,
        source,
        send=lambda quorum: request,
        expect=expected,
        version=1,
        kraft_version=kraft_version,
    )


async def _highest(server: Server) -> int:
    connection = await server.connection()
    return connection.version_for(ApiVersionsRequest())


@SECTION.check(1, kip(584, "ApiVersions"))
async def _(server: Server) -> None:
    """Every finalized level is one that the node supports."""
    features = await features_of(await server.connection())
    for name, finalized in features.finalized_features.items():
        supported = features.supported_features.get(name)
        # Brokers name ranges that begin at 0 only from v4 on (KIP-1022).
        if supported is None and (await _highest(server)) < 4:
            continue
        holds = supported is not None and finalized.max_version in supported
        expect(holds, f"{name} {finalized} within what is supported", supported)


@SECTION.check(2, kip(778, "Feature Flags"))
async def _(server: Server) -> None:
    """A metadata.version is finalized."""
    levels = (await features_of(await server.connection())).finalized_features
    expect(_METADATA in levels, "a finalized metadata.version", ", ".join(levels) or "no feature")


@SECTION.check(3, kip(584, "ApiVersions"))
async def _(server: Server) -> None:
    """The epoch of the finalized features never goes down."""
    connection = await server.connection()
    first = (await features_of(connection)).finalized_features_epoch
    second = (await features_of(connection)).finalized_features_epoch
    if first is None or second is None:
        raise Deviation("an epoch of the finalized features", "none")
    expect(second >= first, f"epoch {first} or later", second)


@SECTION.check(4, kip(1022, "ApiVersions"))
async def _(server: Server) -> None:
    """Features whose range begins with 0 are named from v4 on, not before."""
    connection = await server.connection()
    connection.demand(ApiVersionsRequest, 3, 4)
    request = ApiVersionsRequest(client_software_name="kwire", client_software_version="1")
    older, newer = await connection.ask(request, 3), await connection.ask(request, 4)
    from_zero = [item.name for item in older.supported_features if item.min_version == 0]
    expect_equal("features from 0 on in v3", from_zero, [])
    named = {item.name for item in newer.supported_features}
    expect({item.name for item in older.supported_features} <= named, "all of v3 in v4", named)


SECTION[5] = _validated(
    "An unknown feature cannot be finalized.", _UPDATE, _update("kwire.conform", 1), _REFUSED
)
SECTION[6] = _validated(
    "A level that is not supported cannot be finalized.",
    _UPDATE,
    _update(_METADATA, 32_000),
    _REFUSED,
)
SECTION[7] = _validated(
    "A level can be lowered by a downgrade only.",
    kip(584, "Downgrade"),
    _update(_METADATA, 1),
    _REFUSED,
)
SECTION[8] = _validated(
    "A level below 0 cannot be finalized.", _UPDATE, _update(_METADATA, -1), _REFUSED
)
SECTION[9] = _validated(
    "An unknown upgrade type is refused.",
    kip(778, "UpdateFeatures"),
    _update(_METADATA, 1, _UNKNOWN_TYPE),
    answers(ErrorCode.INVALID_UPDATE_VERSION) | answers(ErrorCode.INVALID_REQUEST),
)
SECTION[10] = _validated(
    "metadata.version cannot be deleted.",
    kip(778, "Downgrade"),
    _update(_METADATA, 0, _UNSAFE_DOWNGRADE),
    _REFUSED,
)
SECTION[11] = _validated(
    "kraft.version cannot go back to 0.",
    kip(853, "KRaft version"),
    _update("kraft.version", 0, _UNSAFE_DOWNGRADE),
    _REFUSED,
    kraft_version=1,
)
SECTION[12] = _validated(
    "A kraft.version that is not supported cannot be finalized.",
    kip(853, "KRaft version"),
    _update("kraft.version", 9),
    _REFUSED,
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
