"""A cluster's layout together with the moves that are under way, from descriptions or an image."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kwire.admin.cluster_description import ClusterNode
from kwire.admin.reassignment.layout import ClusterLayout, PartitionReplicas
from kwire.admin.reassignments import OngoingReassignment
from kwire.admin.topic_descriptions import TopicDescription
from kwire.admin.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kwire.image import MetadataImage

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

    def waits_for_nothing(self, partition: TopicPartition) -> bool:
        """True if a partition moves, and has nothing left to copy."""
        state = self.layout.partitions[partition]
        return partition in self.ongoing and has_copied(state.replicas, state.isr)


def has_copied(target: Iterable[int], isr: Iterable[int]) -> bool:
    """True if all replicas of a move's target are in sync: if it goes on, nothing ends it.

    Kafka ends a move when the ISR changes. An unclean election makes the new leader the whole ISR
    after it has looked whether the move is complete (PartitionChangeBuilder.build), and if the old
    replicas are gone nothing changes it again. Asking for the same move anew ends it.
    """
    return set(target) <= set(isr)


def moving_cluster(
    cluster_id: str,
    states: Iterable[PartitionReplicas],
    brokers: Iterable[ClusterNode],
    ongoing: Mapping[TopicPartition, OngoingReassignment],
) -> MovingCluster:
    """Return the cluster of these partitions: of those on the move, present and future replicas."""
    replicas = {}
    targets = []
    for state in states:
        moving = ongoing.get(state.partition)
        targets.append(state)
        replicas[state.partition] = state.replicas
        if moving is not None:
            adding = moving.adding_replicas
            replicas[state.partition] = tuple(
                broker for broker in moving.replicas if broker not in adding or broker in state.isr
            )
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


def described_partitions(topic: TopicDescription) -> list[PartitionReplicas]:
    """Return the partitions of a topic as a broker describes it."""
    return [
        PartitionReplicas(
            partition=TopicPartition(topic.name, partition.partition),
            replicas=partition.replicas,
            leader=partition.leader_id,
            isr=partition.isr,
        )
        for partition in topic.partitions
    ]


def image_partitions(
    image: MetadataImage, topics: Collection[str] | None
) -> list[PartitionReplicas]:
    """Return the partitions of these topics, or of all, in the metadata log."""
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


def image_brokers(image: MetadataImage) -> list[ClusterNode]:
    """Return the brokers of the metadata log; plans need no addresses, which are left empty."""
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
