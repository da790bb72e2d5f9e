"""Limits of connections are read as Kafka's own properties have them."""

from __future__ import annotations

import pytest

from kwire.controller.quotas.connection_quotas import ConnectionLimits
from kwire.controller.server.config.connection_limits import connection_limits, queued_bytes
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.request_memory import QUEUED_DEFAULT
from kwire.errors import InvalidValue

LIMIT = 100 << 20
PAIRS = {
    "process.roles": "controller",
    "node.id": "3000",
    "log.dirs": "/data",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
}
OWN = {
    "max.connections": "100",
    "max.connections.per.ip": "7",
    "max.connections.per.ip.overrides": "127.0.0.1:200, ::1:3,hostName:100",  # as Kafka has it
    "max.connection.creation.rate": "50",
    "listener.name.controller.max.connections": "10",
    "listener.name.controller.max.connection.creation.rate": "5",
    "queued.max.request.bytes": "104857600",
}


def test_without_properties_nothing_is_limited() -> None:
    assert connection_limits({}, ["CONTROLLER"]) == ConnectionLimits()


def test_every_property_has_its_place() -> None:
    assert connection_limits(OWN, ["CONTROLLER", "ADMIN"], "PLAINTEXT") == ConnectionLimits(
        connections=100,
        per_address=7,
        by_address={"127.0.0.1": 200, "::1": 3, "hostName": 100},
        rate=50,
        by_listener={"CONTROLLER": 10},
        rate_by_listener={"CONTROLLER": 5},
        inter_broker="PLAINTEXT",
    )


def test_none_of_them_is_told_as_unknown() -> None:
    assert NodeConfig.of(PAIRS | OWN).unknown == ()


@pytest.mark.parametrize(
    ("text", "size"),
    [("", QUEUED_DEFAULT), ("-1", QUEUED_DEFAULT), ("0", QUEUED_DEFAULT), (str(LIMIT), LIMIT)],
)
def test_queued_bytes_are_bounded_whatever_the_file_says(text: str, size: int) -> None:
    assert queued_bytes({"queued.max.request.bytes": text}, LIMIT) == size


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"queued.max.request.bytes": str(LIMIT - 1)}, "must be socket.request.max.bytes"),
        ({"queued.max.request.bytes": "much"}, "queued.max.request.bytes is 'much'"),
        ({"max.connections": "-1"}, "max.connections is '-1'"),
        ({"max.connections": "0"}, "max.connections is 0: it must be a number from 1 on"),
        ({"listener.name.controller.max.connections": "0"}, "controller.max.connections is 0"),
        ({"listener.name.controller.max.connections": "x"}, "controller.max.connections is 'x'"),
        ({"max.connections.per.ip": "0"}, "nobody could connect"),
        ({"max.connections.per.ip.overrides": "127.0.0.1"}, "'127.0.0.1' is not host:count"),
        ({"max.connections.per.ip.overrides": "a b:1"}, "'a b:1' is not host:count"),
    ],
)
def test_what_kafka_refuses_is_refused_at_the_start(change: dict[str, str], told: str) -> None:
    """KafkaConfig.validateValues."""
    with pytest.raises(InvalidValue, match=told):
        NodeConfig.of(PAIRS | change)
