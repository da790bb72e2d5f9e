"""Reads the side of ZooKeeper for the state of a migration (KIP-866)."""

from __future__ import annotations

from collections.abc import Mapping

from kwire.errors import ConnectionFailed
from kwire.migration.operator.facts import ZooKeeperController, ZooKeeperFacts
from kwire.zookeeper import Znode, ZooKeeper
from kwire.zookeeper.lookups import children_or_none, get_or_none
from kwire.zookeeper.metadata import read_metadata
from kwire.zookeeper.znodes import (
    BrokerZnode,
    ClusterIdZnode,
    ControllerEpochZnode,
    ControllerZnode,
    MigrationZnode,
    TopicZnode,
)
from kwire.zookeeper.zookeeper_metadata import MetadataPart, ZooKeeperMetadata


class NoKafkaCluster(ConnectionFailed):
    """The ZooKeeper, or its chroot, holds no Kafka cluster."""


Assigned = Mapping[int, tuple[str, ...]]


async def read_facts(zookeeper: ZooKeeper, connect: str) -> ZooKeeperFacts:
    """Return the state, without the brokers in assignments.

    Raises NoKafkaCluster if it is not the ZooKeeper of a Kafka cluster, InvalidZnode if
    /migration or another of these few znodes cannot be read.
    """
    cluster_id = await get_or_none(zookeeper, ClusterIdZnode.path)
    ids = await children_or_none(zookeeper, BrokerZnode.parent)
    if cluster_id is None and ids is None:
        raise await not_kafka(zookeeper, connect)
    controller = await get_or_none(zookeeper, ControllerZnode.path)
    epoch = await get_or_none(zookeeper, ControllerEpochZnode.path)
    migration = await get_or_none(zookeeper, MigrationZnode.path)
    return ZooKeeperFacts(
        cluster_id=ClusterIdZnode.parse(cluster_id.data).cluster_id if cluster_id else None,
        controller=_controller(controller) if controller else None,
        controller_epoch=ControllerEpochZnode.parse(epoch.data).epoch if epoch else None,
        migration=MigrationZnode.parse(migration.data) if migration else None,
        broker_ids=frozenset(int(name) for name in ids or () if name.isdecimal()),
    )


async def read_position(zookeeper: ZooKeeper) -> MigrationZnode | None:
    """Return the content of /migration, None if it is not there. Raises InvalidZnode."""
    znode = await get_or_none(zookeeper, MigrationZnode.path)
    return MigrationZnode.parse(znode.data) if znode else None


async def read_topic_names(zookeeper: ZooKeeper) -> frozenset[str]:
    """Return the names of all topics."""
    return frozenset(await children_or_none(zookeeper, TopicZnode.parent) or ())


async def read_assigned(zookeeper: ZooKeeper) -> Assigned:
    """Return of each broker in assignments its topics; topics that cannot be read are left out."""
    # `verify` tells of those that cannot be read.
    found = await read_metadata(
        zookeeper,
        parts={MetadataPart.TOPICS, MetadataPart.PENDING_DELETIONS},
        on_invalid=lambda error: None,
    )
    return assigned_topics(found)


def assigned_topics(metadata: ZooKeeperMetadata) -> Assigned:
    """Return of each broker in assignments its topics, without those that are to be deleted.

    Nothing is copied of the latter, and Java's driver does not look at them. Replicas that are
    being added are among all replicas (Java: ReplicaAssignment.reassignTo), and Java's driver, too,
    looks at all of them only.
    """
    assigned: dict[int, dict[str, None]] = {}
    for name, topic in metadata.topics.items():
        if name in metadata.pending_deletions:
            continue
        for partition in topic.topic.value.partitions.values():
            for broker_id in partition.replicas:
                assigned.setdefault(broker_id, {})[name] = None
    return {broker_id: tuple(topics) for broker_id, topics in assigned.items()}


async def not_kafka(zookeeper: ZooKeeper, connect: str) -> NoKafkaCluster:
    """Return the error for a ZooKeeper, or a chroot, that holds no Kafka cluster."""
    names = await children_or_none(zookeeper, "/")
    if names is None:
        reason = "its chroot does not exist"
    elif set(names) <= {"zookeeper"}:
        reason = "it is empty"
    else:
        reason = f"it holds {', '.join(names[:5])}"
    return NoKafkaCluster(f"ZooKeeper {connect} is not that of a Kafka cluster: {reason}")


def _controller(znode: Znode) -> ZooKeeperController:
    content = ControllerZnode.parse(znode.data)
    return ZooKeeperController(
        node_id=content.broker_id,
        kraft_epoch=-1 if content.kraft_epoch is None else content.kraft_epoch,
        is_ephemeral=znode.is_ephemeral,
    )
