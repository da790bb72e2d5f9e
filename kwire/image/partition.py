"""One partition of the image (org.apache.kafka.metadata.PartitionRegistration)."""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from kwire.batches.metadata_records import VersionedRecord
from kwire.image.errors import ReplayError
from kwire.messages.metadata_versions import MetadataVersion
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord

NO_LEADER = -1
NO_LEADER_CHANGE = -2

RECOVERED = 0
RECOVERING = 1
NO_RECOVERY_CHANGE = -1

MIGRATING = UUID(int=0)
UNASSIGNED = UUID(int=1)
LOST = UUID(int=2)


class PartitionRegistration(Struct, frozen=True, kw_only=True, gc=False):
    """Replicas, leader and epochs. `directories` has one id a replica, in the same order."""

    replicas: tuple[int, ...]
    directories: tuple[UUID, ...]
    isr: tuple[int, ...]
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    leader: int
    leader_recovery_state: int = RECOVERED
    leader_epoch: int = 0
    partition_epoch: int = 0
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()

    @classmethod
    def of(cls, record: PartitionRecord) -> PartitionRegistration:
        """Return the partition that a PartitionRecord describes."""
        directories = record.directories
        if len(directories) != len(record.replicas):
            directories = _one_a_replica(directories, record.replicas)
        return cls(
            replicas=record.replicas,
            directories=directories,
            isr=record.isr,
            removing_replicas=record.removing_replicas,
            adding_replicas=record.adding_replicas,
            leader=record.leader,
            leader_recovery_state=record.leader_recovery_state,
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
            elr=record.eligible_leader_replicas or (),
            last_known_elr=record.last_known_elr or (),
        )

    def merge(self, change: PartitionChangeRecord) -> PartitionRegistration:
        """Return the partition after a change.

        Every change bumps the partition epoch; one that names a leader, be it the same, bumps the
        leader epoch too.
        """
        leader, leader_epoch = change.leader, self.leader_epoch
        if leader == NO_LEADER_CHANGE:
            leader = self.leader
        else:
            # Since 3.6 a change of the ISR alone bumps only the partition epoch.
            leader_epoch += 1
        replicas = self.replicas if change.replicas is None else change.replicas
        directories = self.directories if change.directories is None else change.directories
        if len(directories) != len(replicas):
            directories = _one_a_replica(directories, replicas)
        recovery, isr = change.leader_recovery_state, change.isr
        removing, adding = change.removing_replicas, change.adding_replicas
        elr, last_known_elr = change.eligible_leader_replicas, change.last_known_elr
        # Nearly all records of a long log come here. Calls in place of the conditions took longer
        # than all else.
        return PartitionRegistration(
            replicas=replicas,
            directories=directories,
            isr=self.isr if isr is None else isr,
            removing_replicas=self.removing_replicas if removing is None else removing,
            adding_replicas=self.adding_replicas if adding is None else adding,
            leader=leader,
            leader_recovery_state=(
                self.leader_recovery_state if recovery == NO_RECOVERY_CHANGE else recovery
            ),
            leader_epoch=leader_epoch,
            partition_epoch=self.partition_epoch + 1,
            elr=self.elr if elr is None else elr,
            last_known_elr=self.last_known_elr if last_known_elr is None else last_known_elr,
        )

    def without_elr(self) -> PartitionRegistration:
        """Return the partition after a ClearElrRecord.

        It counts as a change if there was something to clear (Java: TopicDelta.maybeClearElr): a
        leader proposes its next ISR by the partition epoch after it.
        """
        if not self.elr and not self.last_known_elr:
            return self
        epoch = self.partition_epoch + 1
        return replace(self, elr=(), last_known_elr=(), partition_epoch=epoch)

    @property
    def preferred_leader(self) -> int:
        """The first replica; NO_LEADER where there is none."""
        return self.replicas[0] if self.replicas else NO_LEADER

    @property
    def is_reassigning(self) -> bool:
        """True if replicas are being added or removed."""
        return bool(self.removing_replicas or self.adding_replicas)

    def directory(self, replica: int) -> UUID:
        """Return the directory of a replica.

        Raise ValueError if the partition has no such replica.
        """
        return self.directories[self.replicas.index(replica)]

    def record(
        self, topic_id: UUID, partition_id: int, at: MetadataVersion, *, elr: bool
    ) -> VersionedRecord:
        """Return the PartitionRecord of it; what the version cannot say is left out.

        elr: eligible leader replicas are enabled; without them those that are left over are left
        out, too (Java: ImageWriterOptions.isEligibleLeaderReplicasEnabled).
        """
        record = PartitionRecord(
            partition_id=partition_id,
            topic_id=topic_id,
            replicas=self.replicas,
            isr=self.isr,
            removing_replicas=self.removing_replicas,
            adding_replicas=self.adding_replicas,
            leader=self.leader,
            leader_recovery_state=self.leader_recovery_state,
            leader_epoch=self.leader_epoch,
            partition_epoch=self.partition_epoch,
            directories=self.directories if at.supports_directory_assignment else (),
            eligible_leader_replicas=(self.elr or None) if elr else None,
            last_known_elr=(self.last_known_elr or None) if elr else None,
        )
        return VersionedRecord(record=record, version=at.partition_record)


def _one_a_replica(directories: tuple[UUID, ...], replicas: tuple[int, ...]) -> tuple[UUID, ...]:
    # Records from before directories were assigned (KIP-858) name none, nor do those that then
    # change the number of replicas.
    if all(directory == MIGRATING for directory in directories):
        return (MIGRATING,) * len(replicas)
    raise ReplayError(f"{len(directories)} directories are given for {len(replicas)} replicas")
