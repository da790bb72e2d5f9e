"""A client for whole reassignments: the layout of a cluster, and the throttle that is taken off.

Brokers are asked for topics and settings; controllers answer neither question, so that with them as
bootstrap both come from the metadata log, followed as an observer.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kwire.admin.cluster import ClusterNodes
from kwire.admin.cluster_description import ClusterDescription, ClusterNode
from kwire.admin.configs import AlterConfigOperation, ConfigChange, Configs
from kwire.admin.errors import NoReachableLeader
from kwire.admin.operation import UNKNOWN_NAMES
from kwire.admin.reassignment.journal import ThrottleJournal
from kwire.admin.reassignment.layout import ClusterLayout, PartitionReplicas
from kwire.admin.reassignment.plan import ReplicaMove
from kwire.admin.reassignment.throttle import (
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    RATES,
    ThrottleSetting,
    throttle_settings,
    throttled_resources,
)
from kwire.admin.reassignments import OngoingReassignment, Reassignments
from kwire.admin.topic_descriptions import TopicDescription, TopicKey
from kwire.admin.topic_partition import TopicPartition
from kwire.admin.topics import Topics
from kwire.errors import BrokerError, KwireError, UnsupportedVersion
from kwire.messages.config_resource import ConfigResource, ConfigSource, ResourceType
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.net.connection import Connection

if TYPE_CHECKING:
    from kwire.image import MetadataImage

_KEYS = (*RATES, LEADER_REPLICAS, FOLLOWER_REPLICAS)
_SET = {ConfigSource.DYNAMIC_BROKER, ConfigSource.TOPIC}
_NO_LEADER = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class MovingCluster:
    """A cluster's layout and what moves in it.

    layout: with the replicas that each partition is to have. replicas: those that it has now, for
    partitions on the move those that have the data.
    """

    cluster_id: str
    layout: ClusterLayout
    ongoing: Mapping[TopicPartition, OngoingReassignment]
    replicas: Mapping[TopicPartition, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrottleRemoval:
    """The settings of a throttle after it was taken off.

    changed: those whose value somebody else changed meanwhile, which were left as they are.
    failed: those that could not be taken off, and the reason; they stay in the journal.
    """

    removed: tuple[ThrottleSetting, ...] = ()
    changed: tuple[ThrottleSetting, ...] = ()
    failed: tuple[tuple[ThrottleSetting, KwireError], ...] = ()


class Reassigning(ClusterNodes, Configs, Reassignments, Topics):
    """The operations that a reassignment is made of."""

    async def moving_cluster(self, topics: Collection[str] | None = None) -> MovingCluster:
        """Return the layout of these topics, or of all, and what moves.

        A topic that does not exist has no partitions in it. Raises the error of any other that
        cannot be described.
        """
        if self._at_controllers:
            description = await self.describe_cluster()
            image = await self._image()
            states, brokers = _states_of(image, topics), _brokers_of(image)
        else:
            description = await self._with_fenced()
            keys: list[TopicKey] | None = None if topics is None else [*topics]
            described = await self.describe_topics(keys)
            for error in described.failed.values():
                if not (isinstance(error, BrokerError) and error.code in UNKNOWN_NAMES):
                    raise error
            states = [state for topic in described.values() for state in _states(topic)]
            brokers = list(description.nodes.values())
        ongoing = await self.list_partition_reassignments()
        return _moving(description.cluster_id, states, brokers, ongoing)

    async def _with_fenced(self) -> ClusterDescription:
        """Describe the cluster; brokers before Kafka 4.0 leave fenced ones out."""
        try:
            return await self.describe_cluster(include_fenced_brokers=True)
        except UnsupportedVersion:
            return await self.describe_cluster()

    async def set_throttle(
        self,
        journal: ThrottleJournal,
        moves: Iterable[ReplicaMove],
        live: Collection[int],
        rate: int,
    ) -> list[ThrottleSetting]:
        """Throttle the copies of these moves to a rate in bytes/s; return what was set.

        1. Note what was set before, in the journal, before anything is set.
        2. Set topics and brokers. Raises the first error; what was set is in the journal.
        """
        moves = list(moves)
        # 1.
        before = await self._values(throttled_resources(moves, live))
        settings = throttle_settings(moves, live, rate, before)
        journal.write(settings)
        # 2.
        changes = defaultdict(list)
        for setting in settings:
            changes[setting.resource].append(ConfigChange(name=setting.key, value=setting.value))
        for error in (await self.incremental_alter_configs(changes)).failed.values():
            raise error
        return settings

    async def remove_throttle(self, journal: ThrottleJournal) -> ThrottleRemoval:
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
            now = await self._values(resources, outcomes)
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
        altered = await self.incremental_alter_configs(changes)
        # 3.
        failed = [(s, altered.failed[s.resource]) for s in settings if s.resource in altered.failed]
        journal.write([setting for setting, _ in failed])
        removed = [s for s in settings if s not in changed and s.resource not in altered.failed]
        return ThrottleRemoval(removed=tuple(removed), changed=tuple(changed), failed=tuple(failed))

    async def clear_throttles(self, topics: Iterable[str], brokers: Iterable[int]) -> None:
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
        for error in (await self.incremental_alter_configs(changes)).failed.values():
            raise error

    @property
    def _at_controllers(self) -> bool:
        return self._driver.router.endpoint_type is EndpointType.CONTROLLER

    async def _values(
        self,
        resources: Collection[ConfigResource],
        errors: dict[ConfigResource, KwireError] | None = None,
    ) -> dict[ConfigResource, dict[str, str]]:
        """Return what is set of the throttle's keys. errors: takes those of single resources."""
        if self._at_controllers:
            configs = (await self._image()).configs
            return {it: dict(configs.of(it.type, it.name).items()) for it in resources}
        outcomes = await self.describe_configs(resources, names=_KEYS)
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

    async def _image(self) -> MetadataImage:
        """Return the image of the metadata log. Raises NoReachableLeader."""

        async def open_connection(address: Address) -> Connection:
            return await self._connect(address, self._driver.deadline(None).remaining)

        from kwire.observer import LiveImage  # its messages are many, and brokers do without

        live = LiveImage(self._driver.router.bootstrap_addresses, open=open_connection)
        seconds = self._driver.deadline(None).remaining
        try:
            async with asyncio.timeout(seconds), live:
                return await live.ready()
        except TimeoutError:
            raise NoReachableLeader(
                f"no controller gave the metadata log within {seconds:.1f} s ({live.trouble}): see"
                " kwire quorum check"
            ) from None


def _moving(
    cluster_id: str,
    states: Iterable[PartitionReplicas],
    brokers: Iterable[ClusterNode],
    ongoing: Mapping[TopicPartition, OngoingReassignment],
) -> MovingCluster:
    replicas = {}
    targets = []
    for state in states:
        moving = ongoing.get(state.partition)
        targets.append(state)
        replicas[state.partition] = state.replicas
        if moving is not None:
            adding = moving.adding_replicas
            replicas[state.partition] = tuple(b for b in moving.replicas if b not in adding)
            targets[-1] = PartitionReplicas(
                partition=state.partition,
                replicas=moving.target,
                leader=state.leader,
                isr=state.isr,
            )
    return MovingCluster(
        cluster_id=cluster_id,
        layout=ClusterLayout.of(targets, brokers),
        ongoing={key: moving for key, moving in ongoing.items() if key in replicas},
        replicas=replicas,
    )


def _states(topic: TopicDescription) -> list[PartitionReplicas]:
    return [
        PartitionReplicas(
            partition=TopicPartition(topic.name, partition.partition),
            replicas=partition.replicas,
            leader=partition.leader_id,
            isr=partition.isr,
        )
        for partition in topic.partitions
    ]


def _states_of(image: MetadataImage, topics: Collection[str] | None) -> list[PartitionReplicas]:
    names = list(image.topics.ids) if topics is None else topics
    return [
        PartitionReplicas(
            partition=TopicPartition(name, number),
            replicas=partition.replicas,
            leader=None if partition.leader == _NO_LEADER else partition.leader,
            isr=partition.isr,
        )
        for name in names
        if (topic := image.topics.topic(name)) is not None
        for number, partition in topic.partitions.items()
    ]


def _brokers_of(image: MetadataImage) -> list[ClusterNode]:
    return [
        ClusterNode(
            node_id=node_id,
            host="",
            port=0,
            rack=broker.rack,
            is_fenced=not image.cluster.is_active(node_id),
        )
        for node_id, broker in image.cluster.brokers.items()
    ]


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
