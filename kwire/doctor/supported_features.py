"""The feature levels that several nodes support together (KIP-584)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kwire.messages.metadata_versions import METADATA_VERSION, NAMES
from kwire.net.negotiation import VersionRange

FIRST_DYNAMIC = 26
"""4.1-IV0: the first metadata.version that only controllers know which can upgrade static voters.

Only from Kafka 4.1 on a static voter sends the leader its directory id (UpdateRaftVoter at
kraft.version 0). Kafka 3.9 and 4.0 raise kraft.version and stay static (KAFKA-18979); no request
tells a node's release.
"""


def upgrades_static_voters(features: Mapping[str, VersionRange]) -> bool:
    """True if a controller that supports these features writes static voters into the log."""
    known = features.get(METADATA_VERSION)
    return known is not None and known.max_version >= FIRST_DYNAMIC


def limits(nodes: Iterable[Mapping[str, VersionRange]]) -> dict[str, int]:
    """Return for each feature the highest level that all nodes support; 0 where one has none."""
    supported = list(nodes)
    names = sorted({name for features in supported for name in features})
    absent = VersionRange(0, 0)
    return {
        name: min(features.get(name, absent).max_version for features in supported)
        for name in names
    }


def level_text(name: str, level: int) -> str:
    """Return a level, of metadata.version with its release: `30 (4.3-IV0)`."""
    release = NAMES.get(level) if name == METADATA_VERSION else None
    return f"{level} ({release})" if release else str(level)


def feature_text(name: str, levels: VersionRange) -> str:
    """Return a feature with its levels: `metadata.version 7-30`."""
    return f"{name} {levels}"
