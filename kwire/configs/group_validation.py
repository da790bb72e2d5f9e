"""The configuration of a group (GroupConfig.validate; KIP-848, KIP-932, KIP-1071)."""

from __future__ import annotations

from kwire.configs.group_keys import KEYS
from kwire.configs.keys import Configs, values
from kwire.configs.node_configs import node_value
from kwire.configs.values import Value, as_text, refused

LIMITED = (
    ("consumer", "heartbeat.interval.ms"),
    ("consumer", "session.timeout.ms"),
    ("consumer", "assignment.interval.ms"),
    ("share", "heartbeat.interval.ms"),
    ("share", "session.timeout.ms"),
    ("share", "record.lock.duration.ms"),
    ("share", "delivery.count.limit"),
    ("share", "partition.max.record.locks"),
    ("share", "assignment.interval.ms"),
    ("streams", "heartbeat.interval.ms"),
    ("streams", "session.timeout.ms"),
    ("streams", "num.standby.replicas"),
    ("streams", "assignment.interval.ms"),
)
"""Kinds of groups and their keys that server.properties limits, in Kafka's order."""

_WITHOUT_LOWEST = "num.standby.replicas"
_ONLY_IF_SET = "assignment.interval.ms"


def check(configs: Configs, static: Configs) -> None:
    """Check all settings that a group would have. Raises ApiError with INVALID_CONFIG unless:

    static: the controller's server.properties, whose limits count.

    1. Every name is known.
    2. Every value is of its type and valid; the keys in Kafka's order.
    3. Values are within `group.<kind>.min.<key>` and `group.<kind>.max.<key>`.
    4. Sessions are longer than intervals between heartbeats.
    """
    # 1.
    for name in sorted(configs):
        if name not in KEYS:
            raise refused(f"Unknown group config name: {name}")
    # 2.
    parsed = values(KEYS, {**inherited(static), **configs})
    # 3.
    for kind, key in LIMITED:
        if key != _ONLY_IF_SET or f"{kind}.{key}" in configs:
            _check_limits(kind, key, parsed[f"{kind}.{key}"], static)
    # 4.
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if _number(parsed[session]) <= _number(parsed[heartbeat]):
            raise refused(f"{session} must be greater than {heartbeat}")


def inherited(static: Configs) -> dict[str, str]:
    """Return the values that groups inherit from server.properties, by the group's own key."""
    return {
        name: as_text(node_value(static, synonym.name)) or ""
        for name, key in KEYS.items()
        for synonym in key.synonyms
        if synonym.name in static
    }


def _check_limits(kind: str, key: str, value: Value, static: Configs) -> None:
    lowest = f"group.{kind}.min.{key}"
    highest = f"group.{kind}.max.{key.removeprefix('num.')}"
    number = _number(value)
    if key != _WITHOUT_LOWEST and number < _number(node_value(static, lowest)):
        raise refused(f"{kind}.{key} must be greater than or equal to {lowest}")
    if number > _number(node_value(static, highest)):
        raise refused(f"{kind}.{key} must be less than or equal to {highest}")


def _number(value: Value) -> int:
    assert isinstance(value, int), "the key is a whole number and has a default"
    return value
