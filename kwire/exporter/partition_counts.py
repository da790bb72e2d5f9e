"""Counts the partitions of an image by their health, anew only for topics that changed.

The kinds are those of kafka-topics --describe: --unavailable-partitions (leaderless),
--under-replicated-partitions, --under-min-isr-partitions, --at-min-isr-partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from uuid import UUID

from kwire.image import MetadataImage
from kwire.image.cluster import ClusterImage
from kwire.image.configs import ConfigurationsImage
from kwire.image.partition import NO_LEADER, PartitionRegistration
from kwire.image.topics import TopicImage
from kwire.messages.config_resource import ResourceType
from kwire.text.untrusted import whole_number

STEP = 1000
"""Partitions that are counted before others get their turn: less than ten milliseconds."""

MIN_ISR = "min.insync.replicas"

OfflineDirectories = frozenset[tuple[int, UUID]]


@dataclass(slots=True, kw_only=True)
class PartitionCounts:
    """Numbers of partitions by health; replicas, offline_replicas: of replicas.

    offline_replicas: those in log directories that their brokers have not registered (KIP-858).
    """

    partitions: int = 0
    leaderless: int = 0
    under_replicated: int = 0
    under_min_isr: int = 0
    at_min_isr: int = 0
    not_preferred_leader: int = 0
    reassigning: int = 0
    with_elr: int = 0
    replicas: int = 0
    offline_replicas: int = 0

    def add(self, other: PartitionCounts, sign: int = 1) -> None:
        """Add other counts, or with sign -1 take them away."""
        for name in _NAMES:
            setattr(self, name, getattr(self, name) + sign * getattr(other, name))

    def count(self, partition: PartitionRegistration, min_isr: int) -> None:
        """Count one partition, but for its replicas' directories."""
        in_sync = len(partition.isr)
        self.partitions += 1
        self.leaderless += partition.leader == NO_LEADER
        # Replicas that a reassignment adds do not make a partition under-replicated
        # (TopicCommand.getReplicationFactor).
        wanted = len(partition.replicas) - len(partition.adding_replicas)
        self.under_replicated += in_sync < wanted
        self.under_min_isr += in_sync < min_isr
        self.at_min_isr += in_sync == min_isr
        self.not_preferred_leader += partition.leader != partition.preferred_leader
        self.reassigning += partition.is_reassigning
        self.with_elr += bool(partition.elr)
        self.replicas += len(partition.replicas)


_NAMES = tuple(field.name for field in fields(PartitionCounts))


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCounts:
    """The counts of a topic as it was then."""

    topic: TopicImage
    min_isr: int
    counts: PartitionCounts
    offline: OfflineDirectories


class PartitionCounter:
    """Keeps the counts of the latest image. static_min_isr: of the brokers' server.properties.

    totals: of all topics, and not whole while `count` is under way. topics: by id.
    offline_directories: how many log directories have replicas and are not registered.
    """

    def __init__(self, static_min_isr: int = 1) -> None:
        self._static_min_isr = static_min_isr
        self._directories: dict[int, tuple[UUID, ...]] = {}
        self._cluster = ClusterImage()
        self._configs: ConfigurationsImage | None = None
        self._topics: dict[UUID, TopicCounts] = {}
        self.totals = PartitionCounts()
        self.offline_directories = 0

    @property
    def topics(self) -> Mapping[UUID, TopicCounts]:
        return self._topics

    def count(self, image: MetadataImage) -> Iterator[None]:
        """Count the partitions of an image; yield after each STEP of them, to let others run."""
        self._note_directories(image.cluster)
        default = self._default_min_isr(image)
        same_configs = image.configs is self._configs
        # Until this is done, no topic is taken for counted under these configs.
        self._configs = None
        work = 0
        for topic in image.topics.by_id.values():
            work += 1
            if work % STEP == 0:
                yield
            before = self._topics.get(topic.id)
            if same_configs and before is not None and before.topic is topic:
                continue
            for _ in self._count_topic(topic, _min_isr(image, topic, default)):
                work += 1
                if work % STEP == 0:
                    yield
        self._configs = image.configs
        # All topics of the image are counted: there are more only if some were deleted.
        if len(self._topics) > len(image.topics.by_id):
            for id in self._topics.keys() - set(image.topics.by_id):
                self._replace(id, None)
        offline = (counts.offline for counts in self._topics.values() if counts.offline)
        self.offline_directories = len(frozenset[tuple[int, UUID]]().union(*offline))

    def _note_directories(self, cluster: ClusterImage) -> None:
        directories = {id: broker.directories for id, broker in cluster.brokers.items()}
        if directories != self._directories:
            self._directories, self._cluster = directories, cluster
            self._topics, self.totals = {}, PartitionCounts()

    def _count_topic(self, topic: TopicImage, min_isr: int) -> Iterator[None]:
        """Count a topic unless it is as it was; yield after each of its partitions."""
        before = self._topics.get(topic.id)
        if before is not None and before.topic is topic and before.min_isr == min_isr:
            return
        counts = PartitionCounts()
        offline: set[tuple[int, UUID]] = set()
        for partition in topic.partitions.values():
            counts.count(partition, min_isr)
            for replica in zip(partition.replicas, partition.directories, strict=True):
                if self._is_offline(*replica):
                    counts.offline_replicas += 1
                    offline.add(replica)
            yield
        self._replace(
            topic.id,
            TopicCounts(topic=topic, min_isr=min_isr, counts=counts, offline=frozenset(offline)),
        )

    def _is_offline(self, broker_id: int, directory: UUID) -> bool:
        known = self._directories.get(broker_id)
        # Most replicas lie in a directory that is there: the quick question comes first.
        if known is None or directory in known:
            return False
        return not self._cluster.has_online_directory(broker_id, directory)

    def _replace(self, id: UUID, counts: TopicCounts | None) -> None:
        before = self._topics.pop(id, None)
        if before is not None:
            self.totals.add(before.counts, -1)
        if counts is not None:
            self.totals.add(counts.counts)
            self._topics[id] = counts

    def _default_min_isr(self, image: MetadataImage) -> int:
        # With eligible leader replicas the log always has it, for all brokers (KIP-966).
        text = image.configs.of(ResourceType.BROKER, "").get(MIN_ISR, "")
        return whole_number(text, bits=31) or self._static_min_isr


def _min_isr(image: MetadataImage, topic: TopicImage, default: int) -> int:
    text = image.configs.of(ResourceType.TOPIC, topic.name).get(MIN_ISR, "")
    return whole_number(text, bits=31) or default
