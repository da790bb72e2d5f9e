"""The values in force of a topic's configuration, and their sources (KIP-226)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile

from kwire.controller.configs.keys import ConfigKey, Synonym
from kwire.controller.configs.node_configs import ConfigValue, Lookup, levels
from kwire.controller.configs.topic_keys import KEYS
from kwire.image import MetadataImage
from kwire.messages.config_resource import ConfigSource, ResourceType


def synonyms(
    image: MetadataImage, static: Lookup, key: ConfigKey, topic: str, node_id: int
) -> Iterator[ConfigValue]:
    """Yield every value that a topic's key has somewhere, the one in force first.

    A value that is not valid is in force nowhere: controllers do not check what is set for nodes.
    """
    own = image.configs.of(ResourceType.TOPIC, topic).get(key.name)
    if own is not None:
        yield ConfigValue(name=key.name, value=own, source_text=own, source=ConfigSource.TOPIC)
    yield from _node_values(image, static, key, node_id)
    last = key.synonyms[-1] if key.synonyms else Synonym(key.name)
    yield ConfigValue(
        name=last.name,
        value=key.default,
        source_text=last.source_text(key.default),
        source=ConfigSource.DEFAULT,
    )


def _node_values(
    image: MetadataImage, static: Lookup, key: ConfigKey, node_id: int
) -> Iterator[ConfigValue]:
    for look, source in levels(image, static, node_id):
        for synonym in key.synonyms:
            value = look(synonym.name)
            if value is None:
                continue
            converted = synonym.convert(value)
            if key.is_valid(converted):
                yield ConfigValue(
                    name=synonym.name, value=converted, source_text=value, source=source
                )


def described_synonyms(key: ConfigKey, values: list[ConfigValue]) -> list[ConfigValue]:
    """Return those of `synonyms` that Kafka describes (Java: ConfigHelper.configSynonyms).

    The topic's own; then, from the first that stands under the first of the key's names in
    server.properties, all that follow.
    """
    own = [value for value in values if value.source == ConfigSource.TOPIC]
    first = key.synonyms[0].name if key.synonyms else None
    return own + list(dropwhile(lambda value: value.name != first, values[len(own) :]))


def inherited(image: MetadataImage, static: Lookup, node_id: int) -> dict[str, str]:
    """Return the values that topics inherit from the nodes, by the topic's own key; no defaults."""
    inherited_values = {}
    for name, key in KEYS.items():
        value = next(_node_values(image, static, key, node_id), None)
        if value is not None and value.value is not None:
            inherited_values[name] = value.value
    return inherited_values


def effective(
    image: MetadataImage, static: Lookup, name: str, topic: str, node_id: int
) -> ConfigValue:
    """Return the value in force of a topic's key."""
    return next(synonyms(image, static, KEYS[name], topic, node_id))


def unclean_election_enabled(
    image: MetadataImage, static: Lookup, topic: str, node_id: int
) -> bool:
    """True if a replica outside the ISR may lead rather than nobody."""
    setting = effective(image, static, "unclean.leader.election.enable", topic, node_id)
    return (setting.value or "").strip().lower() == "true"
