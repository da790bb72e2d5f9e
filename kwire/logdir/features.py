"""The feature levels that a newly formatted cluster begins with (KIP-584, KIP-1022)."""

from __future__ import annotations

from collections.abc import Mapping

from kwire.batches.metadata_records import VersionedRecord
from kwire.errors import InvalidValue
from kwire.messages.metadata_versions import (
    DEFAULT,
    FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
    MetadataVersion,
    metadata_version,
    metadata_version_level,
)
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.text.untrusted import whole_number


def effective_metadata_version(
    release_version: str | None, features: Mapping[str, int], *, unstable: bool = False
) -> MetadataVersion:
    """Return the level of a release or of the feature metadata.version, else 4.3-IV0."""
    level = features.get(METADATA_VERSION)
    if level is None:
        if release_version is not None:
            return metadata_version(release_version)
        return MetadataVersion(DEFAULT)
    if release_version is not None:
        raise InvalidValue(
            f"give `release_version` or the feature {METADATA_VERSION}, not both of them"
        )
    version = metadata_version_level(level)
    if not version.is_production and not unstable:
        raise InvalidValue(f"{METADATA_VERSION} {version.name} is not yet stable")
    return version


def effective_levels(
    version: MetadataVersion, features: Mapping[str, int], *, dynamic_quorum: bool
) -> dict[str, int]:
    """Return the level of every feature but metadata.version, as given or by default.

    Raises InvalidValue unless

    1. every given feature is known and has the level;
    2. kraft.version is 1 for a dynamic quorum and 0 for a static one;
    3. the other features that a level needs have the levels that it needs.
    """
    # 1.
    for name in features:
        if name != METADATA_VERSION and name not in FEATURES:
            known = ", ".join([METADATA_VERSION, *FEATURES])
            raise InvalidValue(f"feature {name!r} is not known; known are {known}")
    levels = {name: feature.default(version) for name, feature in FEATURES.items()}
    # 2.
    levels[KRAFT_VERSION] = int(dynamic_quorum)
    for name, level in features.items():
        if name != METADATA_VERSION:
            # 1. to 3.
            _check(name, level, version, dynamic_quorum)
            levels[name] = level
    return levels


def bootstrap_records(version: MetadataVersion, levels: Mapping[str, int]) -> list[VersionedRecord]:
    """metadata.version first, then what is above level 0; kraft.version is a control record."""
    above = {name: level for name, level in sorted(levels.items()) if level > 0}
    above.pop(KRAFT_VERSION, None)
    pairs = {METADATA_VERSION: version.level} | above
    return [
        VersionedRecord(record=FeatureLevelRecord(name=name, feature_level=level), version=0)
        for name, level in pairs.items()
    ]


def parse_feature(text: str) -> tuple[str, int]:
    """Return `name=level`; InvalidValue for anything else."""
    name, equals, digits = text.partition("=")
    level = whole_number(digits, bits=15)
    if not equals or level is None:
        raise InvalidValue(f"{text!r} is no feature: write name=level, as in kraft.version=1")
    return name.strip(), level


def _check(name: str, level: int, version: MetadataVersion, dynamic_quorum: bool) -> None:
    feature = FEATURES[name]
    if level not in feature.since:
        raise InvalidValue(f"{name} {level} is not known: levels are 0 to {feature.latest}")
    needed = feature.needs.get(level, 0)
    if version.level < needed:
        raise InvalidValue(
            f"{name} {level} needs {METADATA_VERSION} {metadata_version_level(needed).name}"
        )
    if name == KRAFT_VERSION and bool(level) != dynamic_quorum:
        purpose = "needs a dynamic quorum" if level else "is for a static quorum"
        raise InvalidValue(
            f"{KRAFT_VERSION} {level} {purpose}: controller.quorum.voters is for a static one,"
            " `standalone`, `initial_controllers` and `no_initial_controllers` for a dynamic one"
        )
