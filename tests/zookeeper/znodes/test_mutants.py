"""Damaged znodes: kwire reads what Kafka 3.9.1 reads, and refuses the rest with their path."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from random import Random
from typing import Any

import pytest

from kwire.zookeeper import InvalidZnode, znodes
from migrating.znode_judge import ZnodeJudge, ZnodeRefused
from tests.support.seed import SEED
from tests.support.zookeeper.sample_znodes import SAMPLES, plain

PATH = "/some/znode"

READERS: Mapping[str, Any] = {
    "controller": znodes.ControllerZnode,
    "migration": znodes.MigrationZnode,
    "cluster_id": znodes.ClusterIdZnode,
    "broker": znodes.BrokerZnode,
    "topic": znodes.TopicZnode,
    "partition_state": znodes.PartitionStateZnode,
    "config": znodes.ConfigZnode,
    "acl": znodes.AclZnode,
    "producer_ids": znodes.ProducerIdsZnode,
    "delegation_token": znodes.DelegationTokenZnode,
    "feature": znodes.FeatureZnode,
}

STRICTER = {"config": "field config: expected an object"}
"""Kafka takes a config that is no object for an empty one, and would lose it in the next write."""

LAXER = {"broker", "feature"}
"""Kafka refuses unknown fields beside a feature's versions unless they are whole numbers."""

REPLACEMENTS = [
    None,
    True,
    -1,
    0,
    3,
    99,
    1.5,
    1 << 31,
    1 << 63,
    "",
    "7",
    "a:b",
    [],
    ["1"],
    {},
    {"a": 1},
]


def mutants(random: Random, value: Any) -> Iterator[Any]:
    """Yield one damaged form of a JSON value for each of its parts."""
    if isinstance(value, dict):
        for name in value:
            yield {other: item for other, item in value.items() if other != name}
            yield {**value, name: random.choice(REPLACEMENTS)}
            yield {**value, f"un{name}": random.choice(REPLACEMENTS)}
            yield from ({**value, name: damaged} for damaged in mutants(random, value[name]))
    elif isinstance(value, list):
        yield [*value, random.choice(REPLACEMENTS)]
        for index, item in enumerate(value):
            for damaged in mutants(random, item):
                yield [*value[:index], damaged, *value[index + 1 :]]


def read(kind: str, data: bytes) -> object | None:
    """Return the value that kwire reads; None if it refuses, with the path."""
    try:
        value = READERS[kind].parse(data, PATH)
    except InvalidZnode:
        return None
    fields = plain(value)
    assert isinstance(fields, dict)
    return {name: field for name, field in fields.items() if name != "timestamp_ms"}


def judged(judge: ZnodeJudge, kind: str, data: bytes) -> object | None:
    """Return the value that Kafka reads; None if it refuses."""
    try:
        value: object = judge.decode(kind, data)
    except ZnodeRefused:
        return None
    return value


@pytest.mark.java
@pytest.mark.xdist_group("znode-judge")
@pytest.mark.parametrize("kind", READERS)
def test_damaged_znodes_are_read_or_refused_as_kafka_does(judge: ZnodeJudge, kind: str) -> None:
    random = Random(SEED)
    accepted = refused = 0
    for _ in range(12):
        data = json.loads(READERS[kind].encode(SAMPLES[kind](random)))
        for mutant in mutants(random, data):
            sent = json.dumps(mutant).encode()
            value, expected = read(kind, sent), judged(judge, kind, sent)
            if value is None and expected is not None:
                with pytest.raises(InvalidZnode, match=STRICTER.get(kind, "nothing")):
                    READERS[kind].parse(sent, PATH)
            elif value is not None and expected is None:
                assert kind in LAXER, sent
                assert b'"un' in sent
            else:
                assert value == expected, sent
            accepted += expected is not None
            refused += value is None
    assert accepted > 20
    assert refused > 5


BROKEN = [
    b"{",
    b"[]",
    b"null",
    b"1",
    b'"x"',
    b"{}x",
    b"\xff",
    b'{"a":NaN}',
    b"{'a':1}",
    b"[" * 100_000,
]


def test_broken_json_is_refused_with_the_path(subtests: pytest.Subtests) -> None:
    for (kind, reader), data in product(READERS.items(), BROKEN):
        with subtests.test(f"{kind}: {data[:10]!r}"):
            with pytest.raises(InvalidZnode, match=r"^znode /some/znode: ") as refused:
                reader.parse(data, PATH)
            assert len(str(refused.value)) < 120


@pytest.mark.parametrize("data", [b"", b"x", b"1.0", b"99999999999", b"2147483648", "٣".encode()])
def test_a_controller_epoch_is_decimal(data: bytes) -> None:
    with pytest.raises(InvalidZnode, match=r"^znode /controller_epoch: expected a whole number"):
        znodes.ControllerEpochZnode.parse(data)


def test_a_foreign_version_of_the_migration_is_refused() -> None:
    data = znodes.MigrationZnode().encode().replace(b'"version":0', b'"version":1')
    with pytest.raises(InvalidZnode, match=r"^znode /migration: field version: 1 is unknown"):
        znodes.MigrationZnode.parse(data)


def test_an_empty_config_or_acl_has_nothing_in_it() -> None:
    assert znodes.ConfigZnode.parse(b"", PATH) == znodes.ConfigZnode()
    assert znodes.AclZnode.parse(b"", PATH) == znodes.AclZnode()


def test_no_error_quotes_a_secret() -> None:
    secret = "s3cr3t"
    for config in (
        {"SCRAM-SHA-256": f"salt={secret}"},
        {"SCRAM-SHA-256": f"salt={secret}=,stored_key=x,server_key=x,iterations=1"},
        {"SCRAM-SHA-256": f"salt=YQ==,stored_key=YQ==,server_key=YQ==,iterations={secret}"},
    ):
        with pytest.raises(InvalidZnode) as refused:
            list(znodes.ConfigZnode(config).scram_credentials(PATH))
        assert secret not in str(refused.value)
    with pytest.raises(InvalidZnode) as refused:
        znodes.ConfigZnode.parse(b'{"config":{"p":"s3cr3t"}', PATH)
    assert secret not in str(refused.value)
    assert secret not in repr(znodes.ConfigZnode({"password": secret}))
    text = znodes.ScramText(salt=b"s3cr3t", stored_key=b"", server_key=b"", iterations=1)
    assert secret not in repr(text)


def test_quotas_are_the_numbers_beside_scram() -> None:
    config = znodes.ConfigZnode({"producer_byte_rate": "1024.5", "SCRAM-SHA-512": "salt=.."})
    assert config.quotas(PATH) == {"producer_byte_rate": 1024.5}
    with pytest.raises(InvalidZnode, match="quota producer_byte_rate is no number"):
        znodes.ConfigZnode({"producer_byte_rate": "1_000"}).quotas(PATH)


@pytest.mark.parametrize("name", ["%", "%2", "a%zz", "%-1"])
def test_broken_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidZnode, match=rf"^znode {PATH}: "):
        znodes.desanitize(name, PATH)
