"""Keys of topics against `topic_configs_4.3.1.tsv`: name, type, default, validator and the name in
server.properties, as Kafka 4.3.1's LogConfig prints them."""

import re
from pathlib import Path

import pytest

from controller.topic_config_keys import KEYS, ConfigKey, problem
from controller.topic_configs import ConfigSource, effective, synonyms, told
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.records.config import ConfigRecord

ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("topic_configs_4.3.1.tsv").read_text().splitlines()
]


def test_every_key_is_there_with_its_type_default_and_name_in_server_properties() -> None:
    ours = [
        (
            key.name,
            key.type.name,
            "null" if key.default is None else key.default,
            key.synonyms[0].name if key.synonyms else "null",
        )
        for key in KEYS.values()
    ]
    assert ours == [(row[0], row[1], row[2], row[4]) for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_values_are_valid_within_kafkas_bounds_only(row: list[str]) -> None:
    key = KEYS[row[0]]
    bounds = re.fullmatch(r"\[(-?[\d]+),\.\.\.,?(-?[\d]*)\](?: or (-?\d+))?", row[3])
    words = re.fullmatch(r"\[([a-zA-Z0-9, ]+)\]", row[3])
    if bounds is not None:
        low, high = int(bounds[3] or bounds[1]), bounds[2]
        assert valid(key, str(low))
        assert not valid(key, str(low - 1))
        assert not high or (valid(key, high) and not valid(key, str(int(high) + 1)))
    elif words is not None:
        assert key.choices == set(words[1].split(", "))
        assert not valid(key, "nonsense")
    else:
        assert not key.choices
        assert (key.low, key.high) == (None, None)


def valid(key: ConfigKey, value: str) -> bool:
    return key.problem(value) is None


@pytest.mark.parametrize(
    ("configs", "reason"),
    [
        ({"nonsense": "1"}, "Unknown topic config name: nonsense"),
        ({"retention.ms": "soon"}, "not of type LONG"),
        ({"retention.ms": "1_000"}, "not of type LONG"),
        ({"retention.ms": "٣"}, "not of type LONG"),
        ({"retention.ms": "9" * 5000}, "not of type LONG"),
        ({"max.message.bytes": str(1 << 31)}, "not of type INT"),
        ({"preallocate": "yes"}, "not of type BOOLEAN"),
        ({"cleanup.policy": "compact,burn"}, "must be of compact, delete"),
        ({"min.compaction.lag.ms": "9", "max.compaction.lag.ms": "5"}, "is above"),
    ],
)
def test_what_is_wrong_is_said(configs: dict[str, str], reason: str) -> None:
    assert reason in (problem(configs) or "")


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

    found = effective(image, STATIC.get, "retention.ms", "foo", 5)

    assert (found.value, found.source) == (value, source)


def test_a_value_stands_above_others() -> None:
    image: MetadataImage = apply_all(
        EMPTY, [set_for(2, "foo", "retention.ms", "5"), set_for(4, "", "log.retention.ms", "3")]
    )

    key = KEYS["retention.ms"]
    found = list(synonyms(image, STATIC.get, key, "foo", 5))

    assert [one.value for one in found] == ["5", "3", "7200000", "604800000"]
    assert [(one.name, one.stated) for one in told(key, found)] == [
        ("retention.ms", "5"),
        ("log.retention.ms", "3"),
        ("log.retention.hours", "2"),
        ("log.retention.hours", "168"),
    ]


@pytest.mark.parametrize(
    "name", ["retention.ms", "segment.ms", "flush.ms", "remote.storage.enable"]
)
def test_what_stands_under_other_names_alone_is_not_told(name: str) -> None:
    """As the controllers of Kafka 4.3.1 answer."""
    key = KEYS[name]

    assert told(key, list(synonyms(EMPTY, lambda _: None, key, "foo", 5))) == []
