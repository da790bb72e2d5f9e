"""The content of a ZooKeeper cluster that a benchmark migrates: topics, configs and ACLs (KIP-866).

It is written into ZooKeeper as brokers of Kafka 3.9 would have written it, without brokers: one
would need minutes and files for so many partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from kazoo.client import KazooClient

from kwire.messages.access_control import AclOperation, AclPermission, AclResourceType
from kwire.zookeeper.znodes.acl import AclResource, AclZnode, AclZnodeEntry
from kwire.zookeeper.znodes.cluster_id import ClusterIdZnode
from kwire.zookeeper.znodes.config import ConfigEntityType, ConfigZnode, entity_path
from kwire.zookeeper.znodes.controller import ControllerEpochZnode
from kwire.zookeeper.znodes.partition_state import PartitionStateZnode
from kwire.zookeeper.znodes.producer_ids import ProducerIdsZnode
from kwire.zookeeper.znodes.top_level import PERSISTENT_PATHS
from kwire.zookeeper.znodes.topic import AssignedReplicas, TopicZnode

IN_FLIGHT = 500
"""Requests that are sent before the first of them is answered."""

ROOTS = ("/cluster", AclZnode.literal_root, f"{AclZnode.literal_root}/Topic")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkContent:
    """So many topics, each with so many partitions on one broker, two configs and two ACLs."""

    topics: int = 2000
    partitions: int = 10
    broker_id: int = 0

    @property
    def names(self) -> list[str]:
        """The names of the topics."""
        return [f"orders-{number:05}" for number in range(self.topics)]

    def znodes(self, cluster_id: str) -> Iterator[tuple[str, bytes]]:
        """Yield paths and data, each after the one above it."""
        yield ClusterIdZnode.path, ClusterIdZnode(cluster_id=cluster_id).encode()
        yield ControllerEpochZnode.path, ControllerEpochZnode(epoch=1).encode()
        block = ProducerIdsZnode(broker_id=self.broker_id, first=0, last=999)
        yield ProducerIdsZnode.path, block.encode()
        for number, name in enumerate(self.names, start=1):
            yield from self._topic(name, UUID(int=(1 << 96) + number))
            configs = {"retention.ms": str(60_000 + number), "cleanup.policy": "compact"}
            yield entity_path(ConfigEntityType.TOPICS, name), ConfigZnode(configs).encode()
            resource = AclResource(AclResourceType.TOPIC, name)
            yield AclZnode.path(resource), AclZnode(_rules()).encode()

    def _topic(self, name: str, topic_id: UUID) -> Iterator[tuple[str, bytes]]:
        replicas = AssignedReplicas((self.broker_id,))
        assigned = dict.fromkeys(range(self.partitions), replicas)
        yield TopicZnode.path(name), TopicZnode(topic_id=topic_id, partitions=assigned).encode()
        yield TopicZnode.partitions_path(name), b""
        state = PartitionStateZnode(
            leader=self.broker_id, leader_epoch=0, isr=(self.broker_id,), controller_epoch=1
        ).encode()
        for partition in range(self.partitions):
            yield TopicZnode.partition_path(name, partition), b""
            yield PartitionStateZnode.path(name, partition), state


def _rules() -> tuple[AclZnodeEntry, ...]:
    return tuple(
        AclZnodeEntry(
            principal="User:alice",
            host="*",
            operation=operation,
            permission_type=AclPermission.ALLOW,
        )
        for operation in (AclOperation.READ, AclOperation.WRITE)
    )


def write_content(client: KazooClient, content: BenchmarkContent, cluster_id: str) -> None:
    """Write it into an empty ZooKeeper."""
    # Kafka does not take an empty znode for the producer ids, which ensure_path would make.
    for path in {*PERSISTENT_PATHS, *ROOTS} - {ProducerIdsZnode.path}:
        client.ensure_path(path)
    znodes = content.znodes(cluster_id)
    # ZooKeeper keeps the order of a session's requests, so nobody waits for the znode above.
    while requests := [client.create_async(*znode) for znode in islice(znodes, IN_FLIGHT)]:
        for request in requests:
            request.get()
