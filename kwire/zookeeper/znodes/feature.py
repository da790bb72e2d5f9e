"""/feature (kafka.zk.FeatureZNode, KIP-584): finalized features; a migration does not copy them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import JsonValue, json_bytes

DISABLED = 0
ENABLED = 1

_LOWEST = "min_version_level"
_HIGHEST = "max_version_level"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureZnode:
    """The features that all brokers use, by their version level."""

    path: ClassVar[str] = "/feature"

    version: int = 2
    status: int = ENABLED
    features: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes, path: str = path) -> FeatureZnode:
        """Read version 1 or 2. Raises InvalidZnode."""
        fields = JsonObject.parse(data, path)
        version = fields.integer("version")
        if version not in (1, 2):
            fields.fail("version", f"{version} is unknown: Kafka 3.9 reads versions 1 and 2")
        status = fields.integer("status")
        if status not in (DISABLED, ENABLED):
            fields.fail("status", f"{status} is unknown")
        levels = fields.object("features")
        features = {name: _level(levels.object(name), version) for name in levels}
        return cls(version=version, status=status, features=features)

    def encode(self) -> bytes:
        """Return the version that this is of; version 1 names the level twice."""
        names = (_HIGHEST, _LOWEST) if self.version == 1 else (_HIGHEST,)
        levels = {name: dict.fromkeys(names, level) for name, level in self.features.items()}
        fields: dict[str, JsonValue] = {
            "version": self.version,
            "status": self.status,
            "features": levels,
        }
        return json_bytes(fields)


def _level(fields: JsonObject, version: int) -> int:
    level = fields.integer(_HIGHEST)
    lowest = fields.integer(_LOWEST) if version == 1 else 1
    if not 1 <= lowest <= level < 1 << 15:
        fields.fail(_HIGHEST, "expected at least 1, and the lowest level")
    return level
