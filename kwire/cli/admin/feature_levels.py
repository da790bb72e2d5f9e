"""Levels of features as users write and read them; metadata.version has names: 4.3-IV0."""

from __future__ import annotations

from kwire.cli.errors import WrongUsage, usage_errors
from kwire.messages.metadata_versions import (
    FEATURES,
    LATEST_PRODUCTION,
    METADATA_VERSION,
    NAMES,
    MetadataVersion,
    metadata_version,
    metadata_version_level,
)
from kwire.text.untrusted import whole_number

FeatureLevels = dict[str, int]
"""Levels by the name of the feature."""

_LEVEL_BITS = 15


def level_text(feature: str, level: int | None) -> str | None:
    """Return a level as kafka-features prints it; None if there is none."""
    if level is None:
        return None
    if feature != METADATA_VERSION:
        return str(level)
    if level == 0:
        return "0"  # none is finalized: the cluster has no KRaft metadata
    return NAMES.get(level, f"UNKNOWN {level}")


def feature_level(text: str) -> tuple[str, int]:
    """Read `group.version=1`, or `metadata.version=4.3-IV0`. Raises WrongUsage."""
    name, _, written = (part.strip() for part in text.partition("="))
    level = whole_number(written, bits=_LEVEL_BITS)
    if name == METADATA_VERSION and level is None and written:
        return name, _version(written).level
    if not name or level is None:
        raise WrongUsage(f"{text!r} is no level of a feature: write FEATURE=LEVEL.")
    return name, level


def release_levels(release: str | None) -> FeatureLevels:
    """Return the levels of a new cluster of a release, by default the latest stable one.

    Raises WrongUsage for a release that kwire does not know.
    """
    version = MetadataVersion(LATEST_PRODUCTION) if release is None else _version(release)
    levels = {METADATA_VERSION: version.level}
    return levels | {name: feature.default(version) for name, feature in FEATURES.items()}


def required_levels(feature: str, level: int) -> dict[str, str]:
    """Return the levels that a level needs. Raises WrongUsage for one that kwire does not know."""
    if feature == METADATA_VERSION:
        with usage_errors():
            metadata_version_level(level)
        return {}
    if feature not in FEATURES:
        known = ", ".join([METADATA_VERSION, *FEATURES])
        raise WrongUsage(f"feature {feature!r} is not known; known are {known}.")
    known_feature = FEATURES[feature]
    if level not in known_feature.since:
        raise WrongUsage(f"{feature} has the levels 0 to {known_feature.latest}, not {level}.")
    needed = known_feature.needs.get(level)
    return {} if needed is None else {METADATA_VERSION: metadata_version_level(needed).name}


def _version(text: str) -> MetadataVersion:
    with usage_errors():
        return metadata_version(text)
