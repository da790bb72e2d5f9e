"""The values of this node's own keys, and their sources (Java: ConfigHelper, KIP-226)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from itertools import dropwhile

from kwire.controller.configs import node_keys
from kwire.controller.configs.keys import ConfigKey, Dynamic
from kwire.image import MetadataImage
from kwire.image.configs import ResourceType


class ConfigSource(IntEnum):
    """Sources of values, by their number in DescribeConfigs (KIP-226)."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    CLIENT_METRICS = 7
    GROUP = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigValue:
    """A value in force and its source.

    name, stated: the name it was found under there, and how it stands there: hours, perhaps.
    """

    name: str
    value: str | None
    stated: str | None
    source: ConfigSource


Lookup = Callable[[str], str | None]
"""Gives the value of a name; None where there is none."""


def levels(
    image: MetadataImage, static: Lookup, node_id: int
) -> tuple[tuple[Lookup, ConfigSource], ...]:
    """Return where a node finds values of its keys, the strongest first."""
    return (
        (image.configs.of(ResourceType.BROKER, str(node_id)).get, ConfigSource.DYNAMIC_BROKER),
        (image.configs.of(ResourceType.BROKER, "").get, ConfigSource.DYNAMIC_DEFAULT_BROKER),
        (static, ConfigSource.STATIC_BROKER),
    )


def node_synonyms(
    image: MetadataImage, static: Lookup, name: str, node_id: int
) -> list[ConfigValue]:
    """Return every value that a node's key has, under its other names, too; the strongest first.

    Nothing before the first that stands under the name itself is told.
    """
    names = next((names for names in _NAMES if name in names), (name,))
    found = []
    for look, source in (*levels(image, static, node_id), (_default, ConfigSource.DEFAULT)):
        for one in names:
            value = look(one)
            if value is not None and _is_taken(one, source):
                found.append(ConfigValue(name=one, value=value, stated=value, source=source))
    return list(dropwhile(lambda value: value.name != name, found))


def _is_taken(name: str, source: ConfigSource) -> bool:
    """False for what a node leaves out of what is set for it at run time.

    That needs a restart; or is for one node and is set for all; or, of TLS, names no listener.
    """
    key = node_key(name)
    if key is None or source not in (ConfigSource.DYNAMIC_BROKER, DYNAMIC_DEFAULT):
        return True
    if name.startswith("ssl.") or key.dynamic is None:
        return False
    return source != DYNAMIC_DEFAULT or key.dynamic is Dynamic.CLUSTER_WIDE


DYNAMIC_DEFAULT = ConfigSource.DYNAMIC_DEFAULT_BROKER


def _default(name: str) -> str | None:
    key = node_keys.KEYS.get(name)
    return None if key is None else key.default


_NAMES = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
)
"""Names of one value (DynamicBrokerConfig.brokerConfigSynonyms)."""


def node_key(name: str) -> ConfigKey | None:
    """Return the key of a name, `listener.name.…` left out; None for what Kafka does not know."""
    if name.startswith("listener.name."):
        name = name.split(".", 3)[-1]
    return node_keys.KEYS.get(name)
