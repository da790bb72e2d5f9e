"""The changes of partitions when brokers come and go (Java: ReplicationControlManager)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from kwire.batches.metadata_records import VersionedRecord
from kwire.configs.topic_configs import (
    EffectiveConfigs,
    min_insync_replicas,
    unclean_election_enabled,
)
from kwire.controller.replicas.partition_change_builder import Election, PartitionChangeBuilder
from kwire.image import MetadataImage
from kwire.image.broker import BrokerRegistration
from kwire.image.partition import NO_LEADER, UNASSIGNED, PartitionRegistration
from kwire.image.topics import TopicImage
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord

LocatedPartition = tuple[TopicImage, int, PartitionRegistration]

FENCE = 1
UNFENCE = -1
IN_CONTROLLED_SHUTDOWN = 1


@dataclass(frozen=True, kw_only=True)
class ReplicationControl:
    """The rules of leadership and ISR over one image.

    static: looks up server.properties. bumps_leader_epochs: as
    of PartitionChangeBuilder.
    """

    image: MetadataImage
    static: Callable[[str], str | None]
    node_id: int = NO_LEADER
    bumps_leader_epochs: bool = False

    @cached_property
    def _configs(self) -> EffectiveConfigs:
        return EffectiveConfigs(self.image, self.static, self.node_id)

    def change(
        self,
        located: LocatedPartition,
        *,
        acceptable: Callable[[int], bool] | None = None,
        election: Election | None = None,
        isr: tuple[int, ...] | None = None,
        leader_recovery_state: int | None = None,
        directories: dict[int, UUID] | None = None,
        replicas: tuple[int, ...] | None = None,
        removing: tuple[int, ...] | None = None,
        adding: tuple[int, ...] | None = None,
        unclean_shutdown: tuple[int, ...] = (),
    ) -> VersionedRecord | None:
        """Return the record that changes one partition; None if nothing changes.

        election: None for the one that the topic's configuration allows. unclean_shutdown: brokers
        that may have lost records when they stopped.
        """
        topic, number, partition = located
        if election is None:
            election = Election.UNCLEAN if self.allows_unclean_leader(topic) else Election.ONLINE
        return PartitionChangeBuilder(
            partition=partition,
            topic_id=topic.id,
            partition_id=number,
            acceptable=self.acceptable(partition, acceptable),
            metadata_version=self.image.features.metadata_version,
            default_directory=self.default_directory,
            election=election,
            eligible_leader_replicas_enabled=self.image.features.elr_enabled,
            min_isr=self.min_isr(topic) if self.image.features.elr_enabled else 1,
            unclean_shutdown_replicas=unclean_shutdown,
            bumps_leader_epochs=self.bumps_leader_epochs,
            isr=isr,
            leader_recovery_state=leader_recovery_state,
            directories=directories or {},
            replicas=replicas,
            removing=removing,
            adding=adding,
        ).build()

    def allows_unclean_leader(self, topic: TopicImage) -> bool:
        """Return True if the topic's configuration lets a replica lead that is not in sync."""
        return unclean_election_enabled(self._configs, topic.name)

    def min_isr(self, topic: TopicImage) -> int:
        """Return min.insync.replicas, but not more than the topic has replicas
        (getTopicEffectiveMinIsr)."""
        configured = min_insync_replicas(self._configs, topic.name)
        return min(configured, len(topic.partitions[0].replicas))

    def acceptable(
        self, partition: PartitionRegistration, active: Callable[[int], bool] | None = None
    ) -> Callable[[int], bool]:
        """Return a check of replicas: active broker (KIP-841), online directory (KIP-858)."""
        cluster = self.image.cluster
        is_active = active or cluster.is_active

        def check(replica: int) -> bool:
            return is_active(replica) and cluster.has_online_directory(
                replica, partition.directory(replica)
            )

        return check

    def default_directory(self, broker_id: int) -> UUID:
        """Return the directory of a new replica on that broker."""
        broker = self.image.cluster.brokers.get(broker_id)
        return UNASSIGNED if broker is None else broker.default_directory

    def leads(self, broker_id: int) -> bool:
        """Return True if that broker leads a partition."""
        return any(
            partition.leader == broker_id
            for topic in self.image.topics.by_id.values()
            for partition in topic.partitions.values()
        )

    def without(
        self, broker_id: int, where: Callable[[PartitionRegistration], bool] | None = None
    ) -> list[VersionedRecord]:
        """Take a broker out of every ISR and leadership; if no other can lead, no replica does.

        where: chooses the partitions; None for those that have the broker in the ISR.
        """
        chosen = where or (lambda partition: broker_id in partition.isr)
        return self.taken_out(broker_id, self.image.topics.partitions(chosen))

    def taken_out(
        self, broker_id: int, partitions: Iterable[LocatedPartition]
    ) -> list[VersionedRecord]:
        """Take a broker out of the ISR and the leadership of some partitions."""
        active = self.image.cluster.is_active

        def acceptable(replica: int) -> bool:
            return replica != broker_id and active(replica)

        return _all(
            self.change(
                located,
                acceptable=acceptable,
                isr=tuple(replica for replica in located[2].isr if replica != broker_id),
            )
            for located in partitions
        )

    def stopped(self, broker_id: int, *, clean: bool) -> list[VersionedRecord]:
        """Take a broker out of every ISR when its successor registers (handleBrokerShutdown).

        1. Eligible leader replicas are off, or it stopped clean: it is in the ELR where min ISR is
           not reached without it.
        2. Else it may have lost records: it leaves every ISR and every ELR.
        """
        # 1.
        if clean or not self.image.features.elr_enabled:
            return self.without(broker_id)
        # 2.
        active = self.image.cluster.is_active

        def acceptable(replica: int) -> bool:
            return replica != broker_id and active(replica)

        topics = self.image.topics
        return _all(
            self.change(
                located,
                acceptable=acceptable,
                isr=tuple(replica for replica in located[2].isr if replica != broker_id),
                unclean_shutdown=(broker_id,),
            )
            for located in (
                *topics.partitions(lambda partition: broker_id in partition.isr),
                *topics.partitions(lambda partition: broker_id in partition.elr),
            )
        )

    def moved_to_directory(
        self, located: LocatedPartition, broker_id: int, directory: UUID
    ) -> list[VersionedRecord]:
        """Note the directory in which a broker has its replica of a partition (KIP-858)."""
        record = self.change(located, election=Election.ONLINE, directories={broker_id: directory})
        return _all([record])

    def fenced(self, broker: BrokerRegistration) -> list[VersionedRecord]:
        """Fence a broker: it leaves every ISR first."""
        change = BrokerRegistrationChangeRecord(
            broker_id=broker.id, broker_epoch=broker.epoch, fenced=FENCE
        )
        return [*self.without(broker.id), VersionedRecord(record=change, version=0)]

    def unfenced(self, broker: BrokerRegistration) -> list[VersionedRecord]:
        """Unfence a broker; it then leads partitions without leader that have it in the ISR."""
        change = BrokerRegistrationChangeRecord(
            broker_id=broker.id, broker_epoch=broker.epoch, fenced=UNFENCE
        )
        active = self.image.cluster.is_active

        # Not one in controlled shutdown (KIP-841): the heartbeat that unfences it came late.
        def acceptable(replica: int) -> bool:
            return active(replica) or (replica == broker.id and not broker.in_controlled_shutdown)

        leaderless = self.image.topics.partitions(lambda partition: partition.leader == NO_LEADER)
        led = (self.change(located, acceptable=acceptable) for located in leaderless)
        return [VersionedRecord(record=change, version=0), *_all(led)]

    def in_controlled_shutdown(self, broker: BrokerRegistration) -> list[VersionedRecord]:
        """Begin a controlled shutdown: the broker leaves every ISR and leads no more (KIP-841)."""
        change = BrokerRegistrationChangeRecord(
            broker_id=broker.id,
            broker_epoch=broker.epoch,
            in_controlled_shutdown=IN_CONTROLLED_SHUTDOWN,
        )
        # Version 1 is the first with the field; the lowest that carries a change is written.
        is_known = broker.in_controlled_shutdown
        changes = [] if is_known else [VersionedRecord(record=change, version=1)]
        return [*changes, *self.without(broker.id)]

    def unregistered(self, broker: BrokerRegistration) -> list[VersionedRecord]:
        """Forget a broker: it leaves every ISR first. Like Kafka, leave it in ELRs."""
        removal = UnregisterBrokerRecord(broker_id=broker.id, broker_epoch=broker.epoch)
        return [
            *self.without(broker.id),
            *self.without(broker.id, lambda partition: broker.id in partition.elr),
            VersionedRecord(record=removal, version=0),
        ]

    def directories_offline(
        self, broker: BrokerRegistration, offline: Iterable[UUID]
    ) -> list[VersionedRecord]:
        """Note that a broker lost directories: replicas in them leave the ISR (KIP-858)."""
        lost = set(broker.directories) & set(offline)
        if not lost:
            return []

        def is_there(partition: PartitionRegistration) -> bool:
            return broker.id in partition.replicas and partition.directory(broker.id) in lost

        online = tuple(directory for directory in broker.directories if directory not in lost)
        change = BrokerRegistrationChangeRecord(
            broker_id=broker.id, broker_epoch=broker.epoch, log_dirs=online
        )
        return [*self.without(broker.id, is_there), VersionedRecord(record=change, version=2)]

    def elect_leaderless(self, limit: int) -> list[VersionedRecord]:
        """Elect unclean leaders of up to `limit` partitions, if their topics allow it."""
        leaderless = self.image.topics.partitions(lambda partition: partition.leader == NO_LEADER)
        allowed = (located for located in leaderless if self.allows_unclean_leader(located[0]))
        return _all(self.change(located) for located in allowed)[:limit]

    def balance(self, limit: int) -> list[VersionedRecord]:
        """Give the leadership of up to `limit` partitions back to the preferred replicas."""
        not_preferred = self.image.topics.partitions(
            lambda partition: partition.leader != partition.preferred_leader
        )
        changes = (self.change(located, election=Election.PREFERRED) for located in not_preferred)
        return _all(changes)[:limit]


def partition_change(record: VersionedRecord) -> PartitionChangeRecord:
    """Return the PartitionChangeRecord in a versioned record."""
    assert isinstance(record.record, PartitionChangeRecord)
    return record.record


def _all(records: Iterable[VersionedRecord | None]) -> list[VersionedRecord]:
    return [record for record in records if record is not None]
