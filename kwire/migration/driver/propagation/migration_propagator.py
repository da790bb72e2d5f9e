"""The requests for an image, or for a change of it (kafka.migration.MigrationPropagator, KIP-866).

Their order to each broker is always: UpdateMetadata with the live brokers, LeaderAndIsr,
UpdateMetadata with the changed partitions, StopReplica.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kwire.image import MetadataImage
from kwire.image.changes import MetadataChanges, TopicChange
from kwire.image.partition import PartitionRegistration
from kwire.image.topics import TopicImage
from kwire.messages.control_requests import EPOCH_DURING_DELETE, ControlRequestType
from kwire.migration.driver.propagation.broker_changes import is_told
from kwire.migration.driver.propagation.control_requests import (
    BrokerRequest,
    ControlRequestBatch,
    ControlRequestSender,
)


def full_requests(
    sender: ControlRequestSender, image: MetadataImage, raft_epoch: int
) -> Iterator[BrokerRequest]:
    """Yield the requests that replace whatever brokers know by an image.

    1. Tell all brokers of each other and of all partitions, so that they know every leader that the
       requests after it name.
    2. Have each broker lead and follow all its partitions. It sets aside every replica that is not
       among them: no image but a whole one, committed, must come here.
    3. Replace the metadata of every broker.

    image: as committed; what an open transaction has changed is left out. raft_epoch: the epoch of
    its last record. Without any partition 2 and 3 do not take place, and a broker without replicas
    gets no LeaderAndIsr, as in Java: it keeps what it has.
    """
    image = image.published
    # 1.
    batch = ControlRequestBatch(sender, image, raft_epoch, ControlRequestType.UNKNOWN)
    batch.update_brokers(image.cluster.brokers)
    for topic, number, partition in _partitions(image):
        batch.update_partition(topic, number, partition)
    yield from batch.requests()
    # 2. and 3.
    batch = ControlRequestBatch(sender, image, raft_epoch, ControlRequestType.FULL)
    for topic, number, partition in _partitions(image):
        batch.lead_or_follow(partition.replicas, topic, number, partition)
    yield from batch.requests()


def incremental_requests(
    sender: ControlRequestSender, changes: MetadataChanges, raft_epoch: int
) -> Iterator[BrokerRequest]:
    """Yield the requests for what changed, to the brokers of the image after it.

    1. Where a broker that runs with ZooKeeper came or changed, tell all brokers of each other and
       of all partitions; where another broker changed, of each other.
    2. Of topics that were deleted and created again have all partitions forgotten and deleted
       first. Java sends this with what follows: brokers then refuse the new topic for the id of the
       old one, and are told to delete the old one at the new one's leader epoch.
    3. Have brokers that came lead and follow all their partitions.
    4. Where topics changed, tell all brokers of each other again, at least.
    5. Have all brokers forget the partitions of deleted topics, and their replicas delete them.
    6. Have the replicas of changed partitions lead or follow them, and all brokers know it.
    7. Have replicas that were taken out of a partition delete it.

    raft_epoch: the epoch of the last record of the image after.
    """
    image = changes.after
    come = {
        id
        for id, change in changes.brokers.items()
        if change.after is not None and is_told(change.after)
    }
    known = set(image.cluster.brokers) - come
    created_again = [topic for topic in changes.deleted_topics if topic.name in image.topics.ids]
    deleted = [topic for topic in changes.deleted_topics if topic.name not in image.topics.ids]

    # 1.
    batch = ControlRequestBatch(sender, image, raft_epoch, ControlRequestType.UNKNOWN)
    if changes.brokers:
        batch.update_brokers(image.cluster.brokers)
    if come:
        for topic, number, partition in _partitions(image):
            batch.update_partition(topic, number, partition)
    yield from batch.requests()
    # 2.
    batch = ControlRequestBatch(sender, image, raft_epoch, ControlRequestType.INCREMENTAL)
    _delete(batch, created_again, known)
    yield from batch.requests()

    batch = ControlRequestBatch(sender, image, raft_epoch, ControlRequestType.INCREMENTAL)
    # 3.
    if come:
        for topic, number, partition in _partitions(image):
            if brokers := come.intersection(partition.replicas):
                batch.lead_or_follow(brokers, topic, number, partition)
    # 4.
    if changes.topics:
        batch.update_brokers(known)
    # 5.
    _delete(batch, deleted, known)
    # 6. and 7.
    for topic_change in changes.changed_topics:
        _add_changed(batch, topic_change)
    yield from batch.requests()


def _delete(batch: ControlRequestBatch, topics: Iterable[TopicImage], known: set[int]) -> None:
    """Add topics that were deleted. known: the brokers that may know of them."""
    for topic in topics:
        batch.update_brokers(known)
        for number, partition in sorted(topic.partitions.items()):
            batch.forget_partition(topic.name, number, partition)
            batch.delete_replicas(partition.replicas, topic.name, number, EPOCH_DURING_DELETE)


def _partitions(image: MetadataImage) -> Iterator[tuple[str, int, PartitionRegistration]]:
    """Yield every partition, in order of topic names."""
    topics = image.topics
    for name in sorted(topics.ids):
        for number, partition in sorted(topics.by_id[topics.ids[name]].partitions.items()):
            yield name, number, partition


def _add_changed(batch: ControlRequestBatch, topic: TopicChange) -> None:
    for number, change in topic.partitions.items():
        after = change.after
        if after is None:
            continue
        # 6.
        batch.lead_or_follow(after.replicas, topic.name, number, after)
        # 7.
        removed = set(change.before.replicas if change.before else ()) - set(after.replicas)
        batch.delete_replicas(removed, topic.name, number, after.leader_epoch)
