"""Partitions of ZooKeeper as the metadata image has them (kafka.zk ZkTopicMigrationClient)."""

from __future__ import annotations

from kwire.image.partition import MIGRATING, NO_LEADER, PartitionRegistration
from kwire.zookeeper.znodes import AssignedReplicas, PartitionStateZnode
from kwire.zookeeper.zookeeper_metadata import Stored, TopicInZooKeeper


def registrations(topic: TopicInZooKeeper) -> dict[int, PartitionRegistration]:
    """Return the partitions that a topic's znode assigns, by number.

    The partition epoch is the version of the state's znode. Without that znode all replicas are in
    the ISR, the first one leads, and epochs are 0.
    """
    return {
        number: _registration(assigned, topic.states.get(number))
        for number, assigned in sorted(topic.topic.value.partitions.items())
    }


def _registration(
    assigned: AssignedReplicas, found: Stored[PartitionStateZnode] | None
) -> PartitionRegistration:
    replicas = assigned.replicas
    state = None if found is None else found.value
    return PartitionRegistration(
        replicas=replicas,
        directories=(MIGRATING,) * len(replicas),
        adding_replicas=assigned.adding,
        removing_replicas=assigned.removing,
        isr=replicas if state is None else state.isr,
        leader=(replicas or (NO_LEADER,))[0] if state is None else state.leader,
        leader_epoch=0 if state is None else state.leader_epoch,
        leader_recovery_state=0 if state is None else state.leader_recovery_state,
        partition_epoch=0 if found is None else found.version,
    )
