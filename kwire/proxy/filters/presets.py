"""Preset rules, by name: typical faults of KRaft quorums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kwire.messages.metadata_topic import METADATA_TOPIC
from kwire.text.untrusted import cut_repr

_METADATA = f"~topic {METADATA_TOPIC}"


def expand(preset: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rules of a preset, with the keys that stand beside its parameters.

    Raises ValueError for an unknown preset, or a parameter that is missing or strange.
    """
    keys = dict(preset)
    name = keys.pop("preset")
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"no preset is called {cut_repr(name)}; there are {', '.join(PRESETS)}")
    make, parameters = PRESETS[name]
    values = []
    for parameter in parameters:
        value = keys.pop(parameter, None)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"the preset {name} needs `{parameter}`, a node id")
        values.append(value)
    called = "-".join([name, *map(str, values)])
    return [rule | {"name": called} | keys for rule in make(*values)]


def _slow_fetch(node: int) -> list[dict[str, Any]]:
    return [{"match": f"~api Fetch & {_METADATA} & ~from {node}", "delay": "4s"}]


def _lost_begin_quorum_epoch(node: int) -> list[dict[str, Any]]:
    return [{"match": f"~api BeginQuorumEpoch & ~to {node}", "drop": True}]


def _late_heartbeats(node: int) -> list[dict[str, Any]]:
    return [{"match": f"~api BrokerHeartbeat & ~from {node}", "delay": "12s"}]


def _one_way_partition(sender: int, receiver: int) -> list[dict[str, Any]]:
    return [{"match": f"~from {sender} & ~to {receiver}", "stall": True}]


PRESETS: dict[str, tuple[Callable[..., list[dict[str, Any]]], tuple[str, ...]]] = {
    "slow-fetch": (_slow_fetch, ("node",)),
    "lost-begin-quorum-epoch": (_lost_begin_quorum_epoch, ("node",)),
    "late-heartbeats": (_late_heartbeats, ("node",)),
    "one-way-partition": (_one_way_partition, ("from", "to")),
}
"""slow-fetch: node's metadata fetches take longer than controller.quorum.fetch.timeout.ms (2 s), so
that it stands for election. lost-begin-quorum-epoch: the leader's announcement never reaches node.
late-heartbeats: broker node's heartbeats take longer than broker.session.timeout.ms (9 s), so that
it is fenced. one-way-partition: nothing that node `from` asks node `to` arrives.
"""
