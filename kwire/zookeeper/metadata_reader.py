"""Reads the parts of the metadata, each with many reads under way (Java: kafka.zk.migration)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from functools import partial
from typing import TypeVar

from kwire.messages.access_control import PatternType
from kwire.net.many_at_once import many_at_once
from kwire.text.untrusted import whole_number
from kwire.zookeeper.client import ZooKeeper
from kwire.zookeeper.errors import InvalidZnode
from kwire.zookeeper.lookups import children_or_none, get_or_none
from kwire.zookeeper.operations import Znode
from kwire.zookeeper.paths import join
from kwire.zookeeper.znodes import (
    DELETE_TOPICS,
    AclResource,
    AclZnode,
    BrokerZnode,
    ClusterIdZnode,
    ConfigEntityType,
    ConfigZnode,
    ControllerEpochZnode,
    ControllerZnode,
    DelegationTokenZnode,
    FeatureZnode,
    MigrationZnode,
    PartitionStateZnode,
    ProducerIdsZnode,
    TopicZnode,
    parse_entity_name,
)
from kwire.zookeeper.znodes.acl import RESOURCE_TYPES
from kwire.zookeeper.zookeeper_metadata import (
    ConfigsByName,
    MetadataPart,
    Stored,
    TopicInZooKeeper,
    ZooKeeperMetadata,
)

TELL_EVERY = 100
"""Znodes of a part between two calls of a progress."""

T = TypeVar("T")
K = TypeVar("K")

ReadProgress = Callable[[str, int, int], object]
"""Called with a noun, how many znodes of it were read, and how many there are."""

Parse = Callable[[bytes, str], T]
"""Reads the data of a znode, with its path for errors. Raises InvalidZnode."""

ReadStep = Callable[[ZooKeeperMetadata], Awaitable[ZooKeeperMetadata]]
"""Reads a part, and adds it to what was found."""

States = dict[str, dict[int, Stored[PartitionStateZnode]]]
"""States of partitions by topic."""


def no_progress(noun: str, done: int, total: int) -> None:
    """Progress that nobody looks at."""


class MetadataReader:
    """Reads the parts one after the other, and the znodes of a part side by side."""

    def __init__(
        self,
        zookeeper: ZooKeeper,
        progress: ReadProgress,
        on_invalid: Callable[[InvalidZnode], object] | None,
    ) -> None:
        self._zookeeper = zookeeper
        self._progress = progress
        self._on_invalid = on_invalid

    async def read(
        self, parts: Collection[MetadataPart], topics: Collection[str] | None
    ) -> ZooKeeperMetadata:
        """Read the parts, and of all topics only these; None for all."""
        with_states = MetadataPart.PARTITION_STATES in parts
        steps: dict[MetadataPart, ReadStep] = {
            MetadataPart.CLUSTER: self._with_cluster,
            MetadataPart.PRODUCER_IDS: self._with_producer_ids,
            MetadataPart.BROKERS: self._with_brokers,
            MetadataPart.PENDING_DELETIONS: self._with_pending_deletions,
            MetadataPart.TOPICS: partial(self._with_topics, topics, with_states),
            MetadataPart.CONFIGS: self._with_configs,
            MetadataPart.QUOTAS: self._with_quotas,
            MetadataPart.ACLS: self._with_acls,
            MetadataPart.DELEGATION_TOKENS: self._with_delegation_tokens,
        }
        found = ZooKeeperMetadata()
        for part, step in steps.items():
            if part in parts:
                found = await step(found)
        return found

    async def _with_cluster(self, found: ZooKeeperMetadata) -> ZooKeeperMetadata:
        return replace(
            found,
            cluster_id=await self._one(ClusterIdZnode.path, ClusterIdZnode.parse),
            controller=await self._one(ControllerZnode.path, ControllerZnode.parse),
            controller_epoch=await self._one(ControllerEpochZnode.path, ControllerEpochZnode.parse),
            migration=await self._one(MigrationZnode.path, MigrationZnode.parse),
            feature=await self._one(FeatureZnode.path, FeatureZnode.parse),
        )

    async def _with_brokers(self, found: ZooKeeperMetadata) -> ZooKeeperMetadata:
        names = await self._children(BrokerZnode.parent)
        numbers = (whole_number(name, bits=31) for name in names)
        paths = [(id, BrokerZnode.path(id)) for id in numbers if id is not None]
        return replace(found, brokers=await self._many("brokers", paths, BrokerZnode.parse))

    async def _with_topics(
        self, names: Collection[str] | None, with_states: bool, found: ZooKeeperMetadata
    ) -> ZooKeeperMetadata:
        if names is None:
            names = await self._children(TopicZnode.parent)
        paths = [(name, TopicZnode.path(name)) for name in names]
        topics = await self._many("topics", paths, TopicZnode.parse)
        if not with_states:
            return replace(
                found, topics={name: TopicInZooKeeper(topic=topics[name]) for name in topics}
            )
        states = await self._states(topics)
        remaining = topics.keys() - await self._gone(topics, states)
        whole = {
            name: TopicInZooKeeper(topic=topics[name], states=states[name])
            for name in topics
            if name in remaining
        }
        return replace(found, topics=whole)

    async def _states(self, topics: dict[str, Stored[TopicZnode]]) -> States:
        paths = [
            ((name, partition), PartitionStateZnode.path(name, partition))
            for name, topic in topics.items()
            for partition in topic.value.partitions
        ]
        states: States = {name: {} for name in topics}
        found = await self._many("partitions", paths, PartitionStateZnode.parse)
        for (name, partition), state in found.items():
            states[name][partition] = state
        return states

    async def _gone(self, topics: dict[str, Stored[TopicZnode]], states: States) -> set[str]:
        """Return the topics that were deleted meanwhile: that begins with their partitions."""
        doubtful = [
            name
            for name, topic in topics.items()
            if len(states[name]) < len(topic.value.partitions)
        ]
        found = await many_at_once(
            doubtful, lambda name: self._zookeeper.exists(TopicZnode.path(name))
        )
        return {name for name, stat in zip(doubtful, found, strict=True) if stat is None}

    async def _with_configs(self, found: ZooKeeperMetadata) -> ZooKeeperMetadata:
        return replace(
            found,
            topic_configs=await self._configs(ConfigEntityType.TOPICS),
            broker_configs=await self._configs(ConfigEntityType.BROKERS),
        )

    async def _with_quotas(self, found: ZooKeeperMetadata) -> ZooKeeperMetadata:
        return replace(
            found,
            users=await self._configs(ConfigEntityType.USERS),
            clients=await self._configs(ConfigEntityType.CLIENTS),
            ips=await self._configs(ConfigEntityType.IPS),
            user_clients=await self._user_clients(),
        )

    async def _configs(self, type: ConfigEntityType) -> ConfigsByName:
        return await self._entities(f"configurations of {type.value}", type.path)

    async def _entities(self, noun: str, folder: str) -> ConfigsByName:
        paths = [(name, join(folder, name)) for name in await self._children(folder)]
        found = await self._many(noun, paths, ConfigZnode.parse)
        return {
            entity: stored
            for name, stored in found.items()
            for entity in self._named(name, join(folder, name))
        }

    async def _user_clients(self) -> dict[tuple[str | None, str | None], Stored[ConfigZnode]]:
        parent = ConfigEntityType.USERS.path
        users = await self._children(parent)
        folders = [f"{parent}/{user}/clients" for user in users]
        clients = await many_at_once(folders, self._children)
        paths = [
            ((user, client), join(folder, client))
            for user, folder, names in zip(users, folders, clients, strict=True)
            for client in names
        ]
        found = await self._many("configurations of users' clients", paths, ConfigZnode.parse)
        return {
            (user, client): found[quoted]
            for quoted, path in paths
            if quoted in found
            for user in self._named(quoted[0], path)
            for client in self._named(quoted[1], path)
        }

    def _named(self, name: str, path: str) -> list[str | None]:
        """Return the entity of a znode's name; none if the name is invalid."""
        try:
            return [parse_entity_name(name, path)]
        except InvalidZnode as error:
            self._refuse(error)
            return []

    async def _with_acls(self, found: ZooKeeperMetadata) -> ZooKeeperMetadata:
        """Kafka passes over types of resources that it does not know, with a warning."""
        paths: list[tuple[AclResource, str]] = []
        unknown: list[str] = []
        for pattern_type in (PatternType.LITERAL, PatternType.PREFIXED):
            root = AclZnode.root(pattern_type)
            types = await self._children(root)
            below = await many_at_once([join(root, type) for type in types], self._children)
            for type, names in zip(types, below, strict=True):
                if type in RESOURCE_TYPES:
                    for name in names:
                        resource = AclResource(RESOURCE_TYPES[type], name, pattern_type)
                        paths.append((resource, f"{root}/{type}/{name}"))
                else:
                    unknown += [f"{root}/{type}/{name}" for name in names]
        acls = await self._many("ACLs", paths, AclZnode.parse)
        return replace(found, acls=acls, unknown_acls=tuple(unknown))

    async def _with_producer_ids(self, found: ZooKeeperMetadata) -> ZooKeeperMetadata:
        znode = await get_or_none(self._zookeeper, ProducerIdsZnode.path)
        if znode is None or not znode.data:
            is_empty = znode is not None and not znode.is_null
            return replace(found, has_empty_producer_ids=is_empty)
        stored = self._stored(znode, ProducerIdsZnode.path, ProducerIdsZnode.parse)
        return replace(found, producer_ids=stored)

    async def _with_delegation_tokens(self, found: ZooKeeperMetadata) -> ZooKeeperMetadata:
        ids = await self._children(DelegationTokenZnode.parent)
        paths = [(id, DelegationTokenZnode.path(id)) for id in ids]
        tokens = await self._many("delegation tokens", paths, DelegationTokenZnode.parse)
        return replace(found, delegation_tokens=tokens)

    async def _with_pending_deletions(self, found: ZooKeeperMetadata) -> ZooKeeperMetadata:
        return replace(found, pending_deletions=frozenset(await self._children(DELETE_TOPICS)))

    async def _children(self, path: str) -> list[str]:
        """Return the names of a znode's children; none if it does not exist."""
        return await children_or_none(self._zookeeper, path) or []

    async def _one(self, path: str, parse: Parse[T]) -> Stored[T] | None:
        znode = await get_or_none(self._zookeeper, path)
        return None if znode is None else self._stored(znode, path, parse)

    async def _many(
        self, noun: str, paths: list[tuple[K, str]], parse: Parse[T]
    ) -> dict[K, Stored[T]]:
        """Read the znodes of keys and paths; leave out those that do not exist."""

        async def read(path: tuple[K, str]) -> Stored[T] | None:
            return await self._one(path[1], parse)

        def tell(done: int) -> None:
            if done == len(paths) or not done % TELL_EVERY:
                self._progress(noun, done, len(paths))

        found = await many_at_once(paths, read, progress=tell)
        return {
            key: stored for (key, _), stored in zip(paths, found, strict=True) if stored is not None
        }

    def _stored(self, znode: Znode, path: str, parse: Parse[T]) -> Stored[T] | None:
        """Return a znode's value; None if it is invalid."""
        try:
            value = parse(znode.data, path)
        except InvalidZnode as error:
            self._refuse(error)
            return None
        return Stored(value, znode.version, znode.ephemeral_owner, znode.modified_ms)

    def _refuse(self, error: InvalidZnode) -> None:
        if self._on_invalid is None:
            raise error
        self._on_invalid(error)
