"""Random znodes of each kind beside Kafka 3.9.1's own classes (kafka.zk.ZkData), both ways."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest

from kwire.zookeeper import znodes
from kwire.zookeeper.znodes.json_object import JsonObject
from migrating.znode_judge import ZnodeJudge
from tests.support.seed import SEED
from tests.support.zookeeper.sample_znodes import SAMPLES, plain, text

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("znode-judge")]

VALUES = 300
"""Random values of each kind."""

PATH = "/test"
EXTENDED = "/kafka-acl-extended-changes/acl_changes_0000000001"

PARSERS: Mapping[str, Callable[[bytes, str], Any]] = {
    "controller": znodes.ControllerZnode.parse,
    "controller_epoch": znodes.ControllerEpochZnode.parse,
    "migration": znodes.MigrationZnode.parse,
    "cluster_id": znodes.ClusterIdZnode.parse,
    "broker": znodes.BrokerZnode.parse,
    "topic": znodes.TopicZnode.parse,
    "partition_state": znodes.PartitionStateZnode.parse,
    "config": znodes.ConfigZnode.parse,
    "acl": znodes.AclZnode.parse,
    "acl_change": znodes.AclChangeZnode.parse,
    "acl_extended_change": znodes.AclChangeZnode.parse,
    "producer_ids": znodes.ProducerIdsZnode.parse,
    "delegation_token": znodes.DelegationTokenZnode.parse,
    "feature": znodes.FeatureZnode.parse,
    "scram": lambda data, path: znodes.ScramText.parse(data.decode(), path),
}

NOT_READ = {"timestamp_ms"}
"""Fields that Kafka writes and does not read."""


def encoded(value: Any) -> bytes:
    """Return a value's bytes; a credential is a text."""
    data = value.encode()
    return data if isinstance(data, bytes) else data.encode()


def with_timestamp(value: object, data: bytes) -> object:
    """Return a broker with the time that Kafka's encoder takes from the clock."""
    if not isinstance(value, znodes.BrokerZnode):
        return value
    timestamp = JsonObject.parse(data, PATH).number_as_text("timestamp")
    return dataclasses.replace(value, timestamp_ms=timestamp)


def content(data: bytes) -> object:
    """Return the values of an object in JSON, whose fields Kafka reads in any order; else bytes."""
    return json.loads(data) if data.startswith(b"{") else data


@pytest.mark.parametrize("kind", SAMPLES)
def test_values_are_written_as_kafka_writes_them(judge: ZnodeJudge, kind: str) -> None:
    random = Random(SEED)
    for _ in range(VALUES):
        value = SAMPLES[kind](random)
        expected = judge.encode(kind, plain(value))
        written = encoded(with_timestamp(value, expected))
        assert content(written) == content(expected), value
        assert len(written) == len(expected), value


def decoded(kind: str, value: object) -> object:
    """Return a value as the judge gives it."""
    fields = plain(value)
    assert isinstance(fields, dict)
    return {name: field for name, field in fields.items() if name not in NOT_READ}


@pytest.mark.parametrize("kind", sorted(SAMPLES.keys() & PARSERS.keys()))
def test_kafkas_bytes_are_read_to_the_same_value(judge: ZnodeJudge, kind: str) -> None:
    random = Random(SEED)
    for _ in range(VALUES):
        value = SAMPLES[kind](random)
        data = judge.encode(kind, plain(value))
        judged, path = kind, PATH
        if isinstance(value, znodes.AclChangeZnode) and value.resource.pattern_type == 4:
            judged, path = "acl_extended_change", EXTENDED
        parsed = PARSERS[kind](data, path)
        assert decoded(kind, parsed) == judge.decode(judged, data), data


def test_names_are_sanitized_as_kafka_does(judge: ZnodeJudge) -> None:
    random = Random(SEED)
    names = [text(random, 20) for _ in range(VALUES)] + ["<default>", "al ice", "a+b", "%zz", "~*"]
    for name in names:
        sanitized = znodes.sanitize(name)
        assert sanitized.encode() == judge.encode("sanitized", {"name": name})
        assert znodes.desanitize(sanitized, PATH) == name
        assert judge.decode("sanitized", sanitized.encode()) == {"name": name}
    for path in ("a+b", "a%20b", "al%C3%A4", "%2B", "plain", "%ff"):
        assert judge.decode("sanitized", path.encode()) == {"name": znodes.desanitize(path, PATH)}


def test_paths_of_acls_are_kafkas(judge: ZnodeJudge) -> None:
    random = Random(SEED)
    for _ in range(VALUES):
        resource = znodes.AclResource(random.randint(2, 7), text(random), random.choice([3, 4]))
        path = judge.encode("acl_path", plain(resource)).decode()
        assert znodes.AclZnode.path(resource) == path
