"""The values of this node's own keys, and their sources (Java: KafkaConfig, ConfigHelper; KIP-226).

A controller takes the settings of nodes at run time without a check, as Kafka's does: the brokers
check them before they forward them (DynamicBrokerConfig), and ignore what reaches them wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import dropwhile

from kwire.configs import node_keys
from kwire.configs.keys import ConfigKey, Configs, Dynamic
from kwire.configs.values import Value
from kwire.errors import ApiError
from kwire.image import MetadataImage
from kwire.messages.config_resource import ConfigSource, ResourceType


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigValue:
    """A value in force and its source.

    name, source_text: the name and the text in that source, which may count hours where `value`
    counts milliseconds.
    """

    name: str
    value: str | None
    source_text: str | None
    source: ConfigSource


Lookup = Callable[[str], str | None]
"""A function from a name to its value; None if it has none."""


def levels(
    image: MetadataImage, static: Lookup, node_id: int
) -> tuple[tuple[Lookup, ConfigSource], ...]:
    """Return the sources of a node's values, the strongest first."""
    return (
        (image.configs.of(ResourceType.BROKER, str(node_id)).get, ConfigSource.DYNAMIC_BROKER),
        (image.configs.of(ResourceType.BROKER, "").get, ConfigSource.DYNAMIC_DEFAULT_BROKER),
        (static, ConfigSource.STATIC_BROKER),
    )


def node_synonyms(
    image: MetadataImage, static: Lookup, name: str, node_id: int
) -> list[ConfigValue]:
    """Return every value of a node's key, under its other names, too; the strongest first.

    Values before the first that has the name itself are left out, as Kafka does.
    """
    names = next((names for names in _NAMES if name in names), (name,))
    values = []
    for look, source in (*levels(image, static, node_id), (_default, ConfigSource.DEFAULT)):
        for synonym in names:
            value = look(synonym)
            if value is not None and _is_effective(synonym, source):
                values.append(
                    ConfigValue(name=synonym, value=value, source_text=value, source=source)
                )
    return list(dropwhile(lambda value: value.name != name, values))


def _is_effective(name: str, source: ConfigSource) -> bool:
    """Return False for settings at run time that a node ignores.

    1. They need a restart, or, of TLS, name no listener.
    2. They are for one node and are set for all.
    """
    key = node_key(name)
    if key is None or source not in (ConfigSource.DYNAMIC_BROKER, DYNAMIC_DEFAULT):
        return True
    # 1.
    if name.startswith("ssl.") or key.dynamic is None:
        return False
    # 2.
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
    """Return the key of a name, without `listener.name.…`; None if Kafka does not know it."""
    if name.startswith("listener.name."):
        name = name.split(".", 3)[-1]
    return node_keys.KEYS.get(name)


def node_value(static: Configs, name: str) -> Value:
    """Return the value of a node's key; the default where it is not set, or is not of its type."""
    key = node_keys.KEYS[name]
    try:
        return key.value(static.get(name))
    except ApiError:
        return key.value(None)
