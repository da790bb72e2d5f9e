"""What is in force of a topic's configuration, and where it comes from (KIP-226)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import dropwhile

from controller.topic_config_keys import KEYS, ConfigKey, Synonym
from kwire.image import MetadataImage
from kwire.image.configs import ResourceType


class ConfigSource(IntEnum):
    """Where a value comes from, by its number in DescribeConfigs (KIP-226)."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigValue:
    """A value in force and where it comes from.

    name, stated: the name it was found under there, and how it stands there: hours, perhaps.
    """

    name: str
    value: str | None
    stated: str | None
    source: ConfigSource


Static = Callable[[str], str | None]
"""What server.properties of this node says of a name."""


def synonyms(
    image: MetadataImage, static: Static, key: ConfigKey, topic: str, node_id: int
) -> Iterator[ConfigValue]:
    """Every value that a topic's key has somewhere, the one in force first.

    What is not valid is in force nowhere: who sets defaults for nodes is not asked whether it is.
    """
    own = image.configs.of(ResourceType.TOPIC, topic).get(key.name)
    if own is not None:
        yield ConfigValue(name=key.name, value=own, stated=own, source=ConfigSource.TOPIC)
    dynamic = image.configs.of(ResourceType.BROKER, str(node_id))
    everywhere = image.configs.of(ResourceType.BROKER, "")
    levels: tuple[tuple[Static, ConfigSource], ...] = (
        (dynamic.get, ConfigSource.DYNAMIC_BROKER),
        (everywhere.get, ConfigSource.DYNAMIC_DEFAULT_BROKER),
        (static, ConfigSource.STATIC_BROKER),
    )
    for look, source in levels:
        for synonym in key.synonyms:
            value = look(synonym.name)
            if value is None:
                continue
            converted = synonym.convert(value)
            if key.problem(converted) is None:
                yield ConfigValue(name=synonym.name, value=converted, stated=value, source=source)
    last = key.synonyms[-1] if key.synonyms else Synonym(key.name)
    yield ConfigValue(
        name=last.name,
        value=key.default,
        stated=last.stated(key.default),
        source=ConfigSource.DEFAULT,
    )


def told(key: ConfigKey, values: list[ConfigValue]) -> list[ConfigValue]:
    """Those of `synonyms` that Kafka tells of (Java: ConfigHelper.configSynonyms).

    The topic's own; then, from the first that stands under the first of the key's names in
    server.properties, all that follow.
    """
    own = [one for one in values if one.source == ConfigSource.TOPIC]
    first = key.synonyms[0].name if key.synonyms else None
    return own + list(dropwhile(lambda one: one.name != first, values[len(own) :]))


def effective(
    image: MetadataImage, static: Static, name: str, topic: str, node_id: int
) -> ConfigValue:
    """The value in force of a topic's key."""
    return next(synonyms(image, static, KEYS[name], topic, node_id))


def unclean_election_enabled(
    image: MetadataImage, static: Static, topic: str, node_id: int
) -> bool:
    """Whether a replica outside the ISR may lead rather than nobody."""
    found = effective(image, static, "unclean.leader.election.enable", topic, node_id)
    return (found.value or "").strip().lower() == "true"
