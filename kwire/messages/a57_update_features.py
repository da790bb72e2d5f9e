"""UpdateFeatures, API key 57."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, field, int8, int16, int32, nullable, since, string


class FeatureUpdateKey(Group):
    feature: str = string
    max_version_level: int = int16
    allow_downgrade: bool = field(boolean, "0")
    upgrade_type: int = since(1, int8, default=1)


class UpdateFeaturesRequest(
    Request, key=57, versions="0-2", flexible="0+", listeners="broker controller"
):
    """An admin raises or lowers the finalized levels of features (KIP-584)."""

    timeout_ms: int = field(int32, default=60000)
    feature_updates: list[FeatureUpdateKey] = array(FeatureUpdateKey)
    validate_only: bool = since(1, boolean)


class UpdatableFeatureResult(Group):
    feature: str = string
    error_code: int = int16
    error_message: str | None = nullable(string)


class UpdateFeaturesResponse(Response, key=57, versions="0-2", flexible="0+"):
    """The controller says whether the feature levels were changed (KIP-584)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)
    results: list[UpdatableFeatureResult] = field(
        array(UpdatableFeatureResult), "0-1", ignorable=True
    )
