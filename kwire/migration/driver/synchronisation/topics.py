"""Topics and partitions that differ (KRaftMigrationZkWriter.handleTopicsSnapshot)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from kwire.image.partition import PartitionRegistration
from kwire.image.topics import TopicImage, TopicsImage
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.topics import (
    Partitions,
    clear_pending_deletions,
    create_partitions,
    create_topic,
    delete_partitions,
    delete_topic,
    same_assignment,
    update_partitions,
    update_topic,
)
from kwire.migration.driver.zookeeper_partitions import registrations
from kwire.text.ids import uuid_text
from kwire.zookeeper.zookeeper_metadata import TopicInZooKeeper, ZooKeeperMetadata

STATELESS_AT_ONCE = 20
"""Partitions without a state that are written in one multi, which is repeated after a refusal."""


@dataclass(frozen=True, slots=True)
class TopicDifferences:
    """The topics that differ between ZooKeeper and an image.

    deleted: topics of ZooKeeper by name. changed: with other assignments or other partitions.
    new_partitions, stateless_partitions, changed_partitions: by topic. extra_partitions: numbers by
    name of the topic.
    """

    pending: list[str] = field(default_factory=list)
    deleted: dict[str, TopicInZooKeeper] = field(default_factory=dict)
    created: list[TopicImage] = field(default_factory=list)
    changed: list[TopicImage] = field(default_factory=list)
    new_partitions: list[tuple[TopicImage, Partitions]] = field(default_factory=list)
    stateless_partitions: list[tuple[TopicImage, Partitions]] = field(default_factory=list)
    changed_partitions: list[tuple[TopicImage, Partitions]] = field(default_factory=list)
    extra_partitions: dict[str, list[int]] = field(default_factory=dict)

    def writes(self, raft_epoch: int) -> Iterator[ZnodeWrite]:
        """Yield their writes.

        Java deletes topics after it has created others: one that was created again under its name
        while ZooKeeper was out of reach is there no more then.
        """
        if self.pending:
            yield clear_pending_deletions(self.pending)
        for name, found in self.deleted.items():
            id = found.topic.value.topic_id
            description = f"Deleted Topic {name}, ID {'none' if id is None else uuid_text(id)}"
            yield delete_topic(name, found.topic.value.partitions, description)
        for topic in self.created:
            yield create_topic(topic, raft_epoch)
        for topic in self.changed:
            yield update_topic(topic, "Changed")
        for topic, partitions in self.new_partitions:
            yield create_partitions(topic, partitions, raft_epoch, "additional")
        for topic, partitions in self.stateless_partitions:
            # Which of their folders are there is not known: each that is costs a refusal.
            numbers = sorted(partitions)
            for start in range(0, len(numbers), STATELESS_AT_ONCE):
                some = {n: partitions[n] for n in numbers[start : start + STATELESS_AT_ONCE]}
                yield create_partitions(topic, some, raft_epoch, "missing")
        for topic, partitions in self.changed_partitions:
            yield update_partitions(topic, partitions, raft_epoch)
        for name, numbers in self.extra_partitions.items():
            yield delete_partitions(name, numbers)


def topic_differences(zookeeper: ZooKeeperMetadata, image: TopicsImage) -> TopicDifferences:
    """Return the topics that differ, in order of their names."""
    differences = TopicDifferences(pending=sorted(zookeeper.pending_deletions))
    for name in sorted({*zookeeper.topics, *image.ids}):
        found, topic = zookeeper.topics.get(name), image.topic(name)
        if found is not None and topic is not None and found.topic.value.topic_id == topic.id:
            _compare(found, topic, differences)
            continue
        if found is not None:
            differences.deleted[name] = found
        if topic is not None:
            differences.created.append(topic)
    return differences


def _compare(found: TopicInZooKeeper, topic: TopicImage, differences: TopicDifferences) -> None:
    there = registrations(found)
    both = {number: item for number, item in topic.partitions.items() if number in there}
    new = {number: item for number, item in topic.partitions.items() if number not in there}
    # Java takes a partition without a state for one that has the state of its first day.
    stateless = {number: item for number, item in both.items() if number not in found.states}
    changed = {
        number: item
        for number, item in both.items()
        if number in found.states and not _same(item, there[number])
    }
    extra = sorted(number for number in there if number not in both)
    is_reassigned = any(not same_assignment(item, there[number]) for number, item in both.items())
    if new or extra or is_reassigned:
        differences.changed.append(topic)
    if new:
        differences.new_partitions.append((topic, new))
    if stateless:
        differences.stateless_partitions.append((topic, stateless))
    if changed:
        differences.changed_partitions.append((topic, changed))
    if extra:
        differences.extra_partitions[topic.name] = extra


def _same(partition: PartitionRegistration, there: PartitionRegistration) -> bool:
    """Return True if two partitions are the same in all that ZooKeeper can have."""
    bare = replace(partition, directories=there.directories, elr=(), last_known_elr=())
    return bare == there
