"""All of Kafka's metadata in ZooKeeper, read at once (Java: kafka.zk.ZkMigrationClient)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Generic, TypeVar

from kwire.zookeeper.znodes import (
    AclResource,
    AclZnode,
    BrokerZnode,
    ClusterIdZnode,
    ConfigZnode,
    ControllerEpochZnode,
    ControllerZnode,
    DelegationTokenZnode,
    FeatureZnode,
    MigrationZnode,
    PartitionStateZnode,
    ProducerIdsZnode,
    TopicZnode,
)

T_co = TypeVar("T_co", covariant=True)


class MetadataPart(Enum):
    """The parts of the metadata, each of which can be read alone.

    CLUSTER: its id, the controller and its epoch, /migration and /feature. PARTITION_STATES: of the
    topics that are read; without TOPICS there are none. QUOTAS: users, with their SCRAM
    credentials, clients, ips, and the clients of users.
    """

    CLUSTER = auto()
    PRODUCER_IDS = auto()
    BROKERS = auto()
    PENDING_DELETIONS = auto()
    TOPICS = auto()
    PARTITION_STATES = auto()
    CONFIGS = auto()
    QUOTAS = auto()
    ACLS = auto()
    DELEGATION_TOKENS = auto()


@dataclass(frozen=True, slots=True)
class Stored(Generic[T_co]):
    """A value with what ZooKeeper says of its znode.

    version: of the data; of a partition's state it is the partition epoch. session: the owner of an
    ephemeral znode, 0 for a persistent one. modified_ms: ZooKeeper's clock.
    """

    value: T_co
    version: int
    session: int = 0
    modified_ms: int = 0


ConfigsByName = Mapping[str | None, Stored[ConfigZnode]]
"""By the name of the entity, unquoted; None is the default one (<default>)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicInZooKeeper:
    """A topic. states: by partition; one that has no state znode yet is not there."""

    topic: Stored[TopicZnode]
    states: Mapping[int, Stored[PartitionStateZnode]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ZooKeeperMetadata:
    """Everything that a migration copies, and what tells of its state; None and empty if absent.

    user_clients: quotas of a user's client, by both names. pending_deletions: topics that a
    controller shall delete; they are in `topics` too. Names of configs are unquoted.
    has_empty_producer_ids: their znode has data of no bytes, which Kafka's copy fails at; brokers
    create it without data. unknown_acls: paths of ACLs for types of resources that Kafka 3.9 does
    not have; it passes over them.
    """

    cluster_id: Stored[ClusterIdZnode] | None = None
    controller: Stored[ControllerZnode] | None = None
    controller_epoch: Stored[ControllerEpochZnode] | None = None
    migration: Stored[MigrationZnode] | None = None
    feature: Stored[FeatureZnode] | None = None
    producer_ids: Stored[ProducerIdsZnode] | None = None
    has_empty_producer_ids: bool = False
    brokers: Mapping[int, Stored[BrokerZnode]] = field(default_factory=dict)
    topics: Mapping[str, TopicInZooKeeper] = field(default_factory=dict)
    topic_configs: ConfigsByName = field(default_factory=dict)
    broker_configs: ConfigsByName = field(default_factory=dict)
    users: ConfigsByName = field(default_factory=dict)
    clients: ConfigsByName = field(default_factory=dict)
    ips: ConfigsByName = field(default_factory=dict)
    user_clients: Mapping[tuple[str | None, str | None], Stored[ConfigZnode]] = field(
        default_factory=dict
    )
    acls: Mapping[AclResource, Stored[AclZnode]] = field(default_factory=dict)
    unknown_acls: tuple[str, ...] = ()
    delegation_tokens: Mapping[str, Stored[DelegationTokenZnode]] = field(default_factory=dict)
    pending_deletions: frozenset[str] = frozenset()
