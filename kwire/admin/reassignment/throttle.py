"""The throttle of a reassignment, as settings with the values that were there before (KIP-73).

Each broker that takes part gets a rate; each topic the list of replicas that the rate is for, so
that replicas that merely keep up are not slowed down.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from kwire.admin.reassignment.plan import ReplicaMove
from kwire.messages.config_resource import ConfigResource, ResourceType

RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
EVERY_REPLICA = "*"

Before = Mapping[ConfigResource, Mapping[str, str]]
"""The values that were set, of those keys that are set at all."""


class ThrottleSetting(Struct, frozen=True, kw_only=True):
    """One key that is set while partitions move. before: None if it was not set."""

    type: int
    name: str
    key: str
    value: str
    before: str | None

    @property
    def resource(self) -> ConfigResource:
        """The broker or the topic."""
        return ConfigResource(self.type, self.name)

    @property
    def is_list(self) -> bool:
        """True for a list of replicas, to which others may have added theirs meanwhile."""
        return self.key not in RATES

    @property
    def own_entries(self) -> list[str]:
        """The entries of a list that were not there before."""
        before = entries(self.before)
        return [entry for entry in entries(self.value) if entry not in before]


def throttled_resources(moves: Iterable[ReplicaMove], live: Iterable[int]) -> list[ConfigResource]:
    """Return the live brokers that take part in copying, and the topics."""
    copying = [move for move in moves if move.adding]
    brokers = {broker for move in copying for broker in (*move.old, *move.adding)}
    topics = {move.partition.topic for move in copying}
    return [
        *(ConfigResource(ResourceType.BROKER, str(b)) for b in sorted(brokers & set(live))),
        *(ConfigResource(ResourceType.TOPIC, topic) for topic in sorted(topics)),
    ]


def throttle_settings(
    moves: Iterable[ReplicaMove], live: Iterable[int], rate: int, before: Before
) -> list[ThrottleSetting]:
    """Return what to set: the rate of every broker, the replicas of every topic.

    As ReassignPartitionsCommand does: the old replicas are throttled as leaders, the new ones as
    followers. What a topic lists already stays in the list.
    """
    moves = list(moves)
    lists: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for move in moves:
        if move.adding:
            topic, partition = move.partition.topic, move.partition.partition
            lists[topic, LEADER_REPLICAS] += [f"{partition}:{b}" for b in move.old]
            lists[topic, FOLLOWER_REPLICAS] += [f"{partition}:{b}" for b in move.adding]
    settings = []
    for resource in throttled_resources(moves, live):
        values = before.get(resource, {})
        if resource.type == ResourceType.BROKER:
            keys = {key: str(rate) for key in RATES}
        else:
            keys = {
                key: _joined(values.get(key), lists[resource.name, key])
                for key in (LEADER_REPLICAS, FOLLOWER_REPLICAS)
            }
        settings += [
            ThrottleSetting(
                type=resource.type, name=resource.name, key=key, value=value, before=values.get(key)
            )
            for key, value in keys.items()
            if value != values.get(key)
        ]
    return settings


def with_left_over(
    settings: Iterable[ThrottleSetting], left_over: Iterable[ThrottleSetting]
) -> list[ThrottleSetting]:
    """Return settings for a journal that has some left over: those that could not be taken off.

    1. A left-over setting of another key is kept, to be taken off with the new ones.
    2. Of the same key what was there before the first of both is to be restored, not our own rate;
       what somebody else set meanwhile, too.
    """
    left = {(setting.resource, setting.key): setting for setting in left_over}
    merged = []
    for setting in settings:
        # 2.
        earlier = left.pop((setting.resource, setting.key), None)
        if earlier is not None:
            setting = replace(setting, before=_before_both(setting, earlier))
        merged.append(setting)
    # 1.
    return [*left.values(), *merged]


def _before_both(setting: ThrottleSetting, earlier: ThrottleSetting) -> str | None:
    if setting.before == earlier.value:
        return earlier.before
    if not setting.is_list:
        return setting.before
    others = [entry for entry in entries(setting.before) if entry not in earlier.own_entries]
    return ",".join(others) or None


def entries(value: str | None) -> list[str]:
    """Return the entries of a list, as Kafka writes it with commas."""
    return [entry.strip() for entry in (value or "").split(",") if entry.strip()]


def _joined(before: str | None, added: list[str]) -> str:
    known = entries(before)
    if EVERY_REPLICA in known:
        return before or ""
    return ",".join(dict.fromkeys([*known, *added]))
