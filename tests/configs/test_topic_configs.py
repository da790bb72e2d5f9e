"""The values in force of topics' keys."""

import pytest

from kwire.configs.topic_configs import (
    EffectiveConfigs,
    described_synonyms,
    inherited,
    synonyms,
)
from kwire.configs.topic_keys import KEYS
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.messages.config_resource import ConfigSource
from kwire.messages.records.config import ConfigRecord


def set_for(type: int, resource: str, name: str, value: str) -> ConfigRecord:
    return ConfigRecord(resource_type=type, resource_name=resource, name=name, value=value)


STATIC = {"log.retention.hours": "2"}


@pytest.mark.parametrize(
    ("records", "value", "source"),
    [
        ([], "7200000", ConfigSource.STATIC_BROKER),
        ([set_for(4, "", "log.retention.ms", "3")], "3", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        ([set_for(4, "5", "log.retention.ms", "4")], "4", ConfigSource.DYNAMIC_BROKER),
        ([set_for(4, "5", "log.retention.minutes", "-1")], "-1", ConfigSource.DYNAMIC_BROKER),
        ([set_for(4, "5", "log.retention.ms", "soon")], "7200000", ConfigSource.STATIC_BROKER),
        ([set_for(4, "5", "log.retention.hours", "soon")], "7200000", ConfigSource.STATIC_BROKER),
        ([set_for(4, "6", "log.retention.ms", "4")], "7200000", ConfigSource.STATIC_BROKER),
        ([set_for(2, "foo", "retention.ms", "5")], "5", ConfigSource.TOPIC),
        ([set_for(2, "bar", "retention.ms", "5")], "7200000", ConfigSource.STATIC_BROKER),
    ],
)
def test_the_nearest_value_is_in_force(
    records: list[ConfigRecord], value: str, source: ConfigSource
) -> None:
    """KIP-226: topic, this node, every node, server.properties, default."""
    image = apply_all(EMPTY, records)

    found = EffectiveConfigs(image, STATIC.get, 5).of_topic("foo", "retention.ms")

    assert (found.value, found.source) == (value, source)


def test_a_value_stands_above_others() -> None:
    image: MetadataImage = apply_all(
        EMPTY, [set_for(2, "foo", "retention.ms", "5"), set_for(4, "", "log.retention.ms", "3")]
    )

    key = KEYS["retention.ms"]
    found = list(synonyms(image, STATIC.get, key, "foo", 5))

    assert [item.value for item in found] == ["5", "3", "7200000", "604800000"]
    assert [(synonym.name, synonym.source_text) for synonym in described_synonyms(key, found)] == [
        ("retention.ms", "5"),
        ("log.retention.ms", "3"),
        ("log.retention.hours", "2"),
        ("log.retention.hours", "168"),
    ]


@pytest.mark.parametrize(
    "name", ["retention.ms", "segment.ms", "flush.ms", "remote.storage.enable"]
)
def test_what_stands_under_other_names_alone_is_not_told(name: str) -> None:
    """The controllers of Kafka 4.3.1 answer so."""
    key = KEYS[name]

    assert described_synonyms(key, list(synonyms(EMPTY, lambda _: None, key, "foo", 5))) == []


def test_topics_inherit_what_is_valid() -> None:
    records = [
        set_for(4, "5", "log.retention.minutes", "2"),
        set_for(4, "", "log.segment.bytes", "1"),
        set_for(2, "", "preallocate", "true"),
    ]

    found = inherited(apply_all(EMPTY, records), {"min.insync.replicas": "2"}.get, 5)

    assert found == {"retention.ms": "120000", "min.insync.replicas": "2"}
