"""The values in force of a topic's configuration, and their sources (KIP-226)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import dropwhile

from kwire.configs.keys import ConfigKey, Synonym
from kwire.configs.node_configs import ConfigValue, Lookup, levels
from kwire.configs.topic_keys import KEYS
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
        yield _own_value(key.name, own)
    yield from _values_without_own(image, static, key, node_id)


def _own_value(name: str, value: str) -> ConfigValue:
    return ConfigValue(name=name, value=value, source_text=value, source=ConfigSource.TOPIC)


def _values_without_own(
    image: MetadataImage, static: Lookup, key: ConfigKey, node_id: int
) -> Iterator[ConfigValue]:
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


MIN_INSYNC_REPLICAS = "min.insync.replicas"


class EffectiveConfigs:
    """The values in force of topics' keys, over one image.

    Topics without a value of their own share the nodes' values and the defaults, which are looked
    up once for each key: a request may create thousands of topics.
    """

    def __init__(self, image: MetadataImage, static: Lookup, node_id: int) -> None:
        self._image, self._static, self._node_id = image, static, node_id
        self._shared: dict[str, ConfigValue] = {}

    def of_topic(self, topic: str, name: str) -> ConfigValue:
        """Return the value in force of a topic's key."""
        return self.with_own(self._image.configs.of(ResourceType.TOPIC, topic), name)

    def with_own(self, own: Mapping[str, str], name: str) -> ConfigValue:
        """Return the value in force of a key, where `own` are the values set for the topic."""
        value = own.get(name)
        if value is not None:
            return _own_value(name, value)
        shared = self._shared.get(name)
        if shared is None:
            values = _values_without_own(self._image, self._static, KEYS[name], self._node_id)
            shared = self._shared[name] = next(values)
        return shared


def unclean_election_enabled(configs: EffectiveConfigs, topic: str) -> bool:
    """True if a replica outside the ISR may lead rather than nobody."""
    setting = configs.of_topic(topic, "unclean.leader.election.enable")
    return (setting.value or "").strip().lower() == "true"


def min_insync_replicas(configs: EffectiveConfigs, topic: str) -> int:
    """Return how many replicas must have a record before it counts as committed (acks=all)."""
    return int(configs.of_topic(topic, MIN_INSYNC_REPLICAS).value or 1)
