"""Topics and partitions (kafka.zk.migration.ZkTopicMigrationClient)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kwire.image.partition import PartitionRegistration
from kwire.image.topics import TopicImage
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.text.ids import uuid_text
from kwire.zookeeper.operations import Create, Delete, SetData, ZnodeOperation
from kwire.zookeeper.znodes import (
    AssignedReplicas,
    ConfigEntityType,
    ConfigZnode,
    PartitionStateZnode,
    TopicZnode,
    pending_deletion_path,
)
from kwire.zookeeper.znodes.config import entity_path

CREATE_TOPIC = "CreateTopic"
UPDATE_TOPIC = "UpdateTopic"
DELETE_TOPIC = "DeleteTopic"
DELETE_PENDING_TOPIC_DELETION = "DeletePendingTopicDeletion"
UPDATE_PARTITION = "UpdatePartition"
DELETE_PARTITION = "DeletePartition"

Partitions = Mapping[int, PartitionRegistration]
"""Some or all partitions of a topic, by number."""


def create_topic(topic: TopicImage, raft_epoch: int) -> ZnodeWrite:
    """Return the write of a new topic, with an empty configuration."""
    config = Create(entity_path(ConfigEntityType.TOPICS, topic.name), ConfigZnode().encode())
    return ZnodeWrite(
        type=CREATE_TOPIC,
        description=f"Created Topic {_named(topic)}",
        operations=(
            Create(TopicZnode.path(topic.name), topic_data(topic)),
            config,
            Create(TopicZnode.partitions_path(topic.name)),
            *_creations(topic.name, topic.partitions, raft_epoch),
        ),
        folders=_folders(topic.name, topic.partitions),
    )


def update_topic(topic: TopicImage, verb: str) -> ZnodeWrite:
    """Return the write of a topic's id and assignments. verb: Kafka's word for it in the log."""
    return ZnodeWrite(
        type=UPDATE_TOPIC,
        description=f"{verb} Topic {_named(topic)}",
        operations=(SetData(TopicZnode.path(topic.name), topic_data(topic)),),
    )


def delete_topic(name: str, numbers: Iterable[int], description: str) -> ZnodeWrite:
    """Return the write that deletes a topic: its partitions, its configuration, itself.

    numbers: of the partitions that it is expected to have.
    """
    path = TopicZnode.path(name)
    return ZnodeWrite(
        type=DELETE_TOPIC,
        description=description,
        operations=(
            *_deletions(name, numbers),
            Delete(TopicZnode.partitions_path(name)),
            Delete(entity_path(ConfigEntityType.TOPICS, name)),
            Delete(path),
        ),
        removed=path,
    )


def create_partitions(
    topic: TopicImage, partitions: Partitions, raft_epoch: int, what: str
) -> ZnodeWrite:
    """Return the write of partitions that the topic did not have. what: Kafka's word for them."""
    return ZnodeWrite(
        type=UPDATE_PARTITION,
        description=f"Created {what} partitions for Topic {_named(topic)}",
        operations=tuple(_creations(topic.name, partitions, raft_epoch)),
        folders=_folders(topic.name, partitions),
    )


def update_partitions(topic: TopicImage, partitions: Partitions, raft_epoch: int) -> ZnodeWrite:
    """Return the write of the states of some partitions."""
    return ZnodeWrite(
        type=UPDATE_PARTITION,
        description=f"Updated Partitions for Topic {_named(topic)}",
        operations=tuple(
            SetData(
                PartitionStateZnode.path(topic.name, number),
                partition_state_data(partitions[number], raft_epoch),
            )
            for number in sorted(partitions)
        ),
        folders=_folders(topic.name, partitions),
    )


def delete_partitions(name: str, numbers: Iterable[int]) -> ZnodeWrite:
    """Return the write that deletes partitions which ZooKeeper alone has."""
    ordered = sorted(numbers)
    return ZnodeWrite(
        type=DELETE_PARTITION,
        description=f"Deleted extraneous Partitions {ordered} for Topic {name}",
        operations=tuple(_deletions(name, ordered)),
    )


def clear_pending_deletions(names: Iterable[str]) -> ZnodeWrite:
    """Return the write that forgets which topics a ZooKeeper controller was asked to delete."""
    return ZnodeWrite(
        type=DELETE_PENDING_TOPIC_DELETION,
        description="Deleted pending topic deletions",
        operations=tuple(Delete(pending_deletion_path(name)) for name in sorted(names)),
    )


def topic_data(topic: TopicImage) -> bytes:
    """Return the content of a topic's znode."""
    partitions = {
        number: AssignedReplicas(
            partition.replicas, partition.adding_replicas, partition.removing_replicas
        )
        for number, partition in sorted(topic.partitions.items())
    }
    return TopicZnode(topic_id=topic.id, partitions=partitions).encode()


def same_assignment(one: PartitionRegistration, other: PartitionRegistration) -> bool:
    """Return True if the replicas are the same, as a topic's znode has them."""
    return (
        one.replicas == other.replicas
        and one.adding_replicas == other.adding_replicas
        and one.removing_replicas == other.removing_replicas
    )


def partition_state_data(partition: PartitionRegistration, raft_epoch: int) -> bytes:
    """Return the content of a partition's state; its controller epoch is the one of raft."""
    return PartitionStateZnode(
        leader=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=partition.isr,
        controller_epoch=raft_epoch,
        leader_recovery_state=partition.leader_recovery_state,
    ).encode()


def _creations(name: str, partitions: Partitions, raft_epoch: int) -> Iterator[ZnodeOperation]:
    for number in sorted(partitions):
        yield Create(TopicZnode.partition_path(name, number))
        data = partition_state_data(partitions[number], raft_epoch)
        yield Create(PartitionStateZnode.path(name, number), data)


def _deletions(name: str, numbers: Iterable[int]) -> Iterator[ZnodeOperation]:
    for number in sorted(numbers):
        yield Delete(PartitionStateZnode.path(name, number))
        yield Delete(TopicZnode.partition_path(name, number))


def _folders(name: str, partitions: Partitions) -> tuple[str, ...]:
    paths = (TopicZnode.partition_path(name, number) for number in sorted(partitions))
    return (TopicZnode.partitions_path(name), *paths)


def _named(topic: TopicImage) -> str:
    return f"{topic.name}, ID {uuid_text(topic.id)}"
