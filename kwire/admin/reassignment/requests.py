"""The requests of a reassignment: the layout of a cluster, and the throttle put on and taken off.

Brokers are asked for topics and settings; controllers answer neither question, so that with them as
bootstrap both come from the metadata log, followed as an observer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kwire.admin.cluster import describe_cluster
from kwire.admin.cluster_description import ClusterDescription
from kwire.admin.configs import (
    AlterConfigOperation,
    ConfigChange,
    describe_configs,
    incremental_alter_configs,
)
from kwire.admin.driver import Driver
from kwire.admin.operation import UNKNOWN_NAMES
from kwire.admin.reassignment.journal import ThrottleJournal
from kwire.admin.reassignment.moving_cluster import (
    MovingCluster,
    described_partitions,
    image_brokers,
    image_partitions,
    moving_cluster,
)
from kwire.admin.reassignment.plan import ReplicaMove
from kwire.admin.reassignment.throttle import (
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    RATES,
    ThrottleSetting,
    throttle_settings,
    throttled_resources,
    with_left_over,
)
from kwire.admin.reassignments import list_partition_reassignments
from kwire.admin.topic_descriptions import TopicKey
from kwire.admin.topics import describe_topics
from kwire.errors import BrokerError, KwireError, UnsupportedVersion
from kwire.messages.config_resource import ConfigResource, ConfigSource, ResourceType

_KEYS = (*RATES, LEADER_REPLICAS, FOLLOWER_REPLICAS)
_SET = {ConfigSource.DYNAMIC_BROKER, ConfigSource.TOPIC}


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrottleRemoval:
    """The settings of a throttle after it was taken off.

    changed: those whose value somebody else changed meanwhile, which were left as they are.
    failed: those that could not be taken off, and the reason; they stay in the journal.
    """

    removed: tuple[ThrottleSetting, ...] = ()
    changed: tuple[ThrottleSetting, ...] = ()
    failed: tuple[tuple[ThrottleSetting, KwireError], ...] = ()


async def fetch_moving_cluster(
    driver: Driver, topics: Collection[str] | None = None
) -> MovingCluster:
    """Return the layout of these topics, or of all, and what moves.

    A topic that does not exist has no partitions in it. Raises the error of any other that
    cannot be described.
    """
    if driver.asks_controllers:
        description = await describe_cluster(driver)
        image = await driver.read_metadata_log()
        states, brokers = image_partitions(image, topics), image_brokers(image)
    else:
        description = await _with_fenced(driver)
        keys: list[TopicKey] | None = None if topics is None else [*topics]
        described = await describe_topics(driver, keys)
        for error in described.failed.values():
            if not (isinstance(error, BrokerError) and error.code in UNKNOWN_NAMES):
                raise error
        topics_now = described.values()
        states = [state for topic in topics_now for state in described_partitions(topic)]
        brokers = list(description.nodes.values())
    ongoing = await list_partition_reassignments(driver)
    return moving_cluster(description.told_cluster_id(), states, brokers, ongoing)


async def _with_fenced(
    driver: Driver,
) -> ClusterDescription:
    """Describe the cluster; brokers before Kafka 4.0 leave fenced ones out."""
    try:
        return await describe_cluster(driver, include_fenced_brokers=True)
    except UnsupportedVersion:
        return await describe_cluster(driver)


async def set_throttle(
    driver: Driver,
    journal: ThrottleJournal,
    moves: Iterable[ReplicaMove],
    live: Collection[int],
    rate: int,
) -> list[ThrottleSetting]:
    """Throttle the copies of these moves to a rate in bytes/s; return what was set.

    1. Note what was set before, in the journal, before anything is set; what could not be
       taken off before stays noted.
    2. Set topics and brokers. Raises the first error; what was set is in the journal.
    """
    moves = list(moves)
    # 1.
    before = await _values(driver, throttled_resources(moves, live))
    settings = throttle_settings(moves, live, rate, before)
    journal.write(with_left_over(settings, journal.read()))
    # 2.
    changes = defaultdict(list)
    for setting in settings:
        changes[setting.resource].append(ConfigChange(name=setting.key, value=setting.value))
    for error in (await incremental_alter_configs(driver, changes)).failed.values():
        raise error
    return settings


async def remove_throttle(driver: Driver, journal: ThrottleJournal) -> ThrottleRemoval:
    """Give every key of the journal the value it had before.

    1. A key that has our value, or the one before, gets the one before.
    2. A list that somebody changed loses our entries; a rate that somebody changed stays.
    3. What could not be changed stays in the journal, for the next time.
    """
    settings = journal.read()
    if not settings:
        return ThrottleRemoval()
    resources = list(dict.fromkeys(setting.resource for setting in settings))
    outcomes: dict[ConfigResource, KwireError] = {}
    try:
        now = await _values(driver, resources, outcomes)
    except KwireError as error:
        return ThrottleRemoval(failed=tuple((setting, error) for setting in settings))
    changes: defaultdict[ConfigResource, list[ConfigChange]] = defaultdict(list)
    changed = []
    for setting in settings:
        value = now.get(setting.resource, {}).get(setting.key)
        # 1.
        if setting.resource in outcomes or value in (setting.value, setting.before):
            changes[setting.resource].append(_restoring(setting))
        # 2.
        elif setting.is_list and value is not None:
            changes[setting.resource].append(_without_own(setting))
        else:
            changed.append(setting)
    altered = await incremental_alter_configs(driver, changes)
    # 3.
    failed = [(s, altered.failed[s.resource]) for s in settings if s.resource in altered.failed]
    journal.write([setting for setting, _ in failed])
    removed = [s for s in settings if s not in changed and s.resource not in altered.failed]
    return ThrottleRemoval(removed=tuple(removed), changed=tuple(changed), failed=tuple(failed))


async def clear_throttles(driver: Driver, topics: Iterable[str], brokers: Iterable[int]) -> None:
    """Delete every replication throttle of these topics and brokers, whoever set it.

    kafka-reassign-partitions --verify does the same. Raises the first error.
    """
    changes = {
        **{
            ConfigResource(ResourceType.BROKER, str(b)): [_delete(key) for key in RATES]
            for b in brokers
        },
        **{
            ConfigResource(ResourceType.TOPIC, topic): [
                _delete(LEADER_REPLICAS),
                _delete(FOLLOWER_REPLICAS),
            ]
            for topic in topics
        },
    }
    for error in (await incremental_alter_configs(driver, changes)).failed.values():
        raise error


async def _values(
    driver: Driver,
    resources: Collection[ConfigResource],
    errors: dict[ConfigResource, KwireError] | None = None,
) -> dict[ConfigResource, dict[str, str]]:
    """Return what is set of the throttle's keys. errors: takes those of single resources."""
    if driver.asks_controllers:
        configs = (await driver.read_metadata_log()).configs
        return {r: dict(configs.of(r.type, r.name).items()) for r in resources}
    outcomes = await describe_configs(driver, resources, names=_KEYS)
    for resource, error in outcomes.failed.items():
        if errors is None:
            raise error
        errors[resource] = error
    return {
        resource: {
            name: entry.value
            for name, entry in found.items()
            if entry.source in _SET and entry.value is not None
        }
        for resource, found in outcomes.items()
    }


def _restoring(setting: ThrottleSetting) -> ConfigChange:
    if setting.before is None:
        return _delete(setting.key)
    return ConfigChange(name=setting.key, value=setting.before)


def _without_own(setting: ThrottleSetting) -> ConfigChange:
    return ConfigChange(
        name=setting.key,
        operation=AlterConfigOperation.SUBTRACT,
        value=",".join(setting.own_entries),
    )


def _delete(key: str) -> ConfigChange:
    return ConfigChange(name=key, operation=AlterConfigOperation.DELETE)
