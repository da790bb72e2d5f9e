"""The change of one partition: ISR, leader, replicas (Java: PartitionChangeBuilder).

For clusters whose eligible leader replicas are at level 0 (KIP-966); the ELR that a partition still
has is cleared by its next change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from kwire.batches.metadata_records import VersionedRecord
from kwire.image.partition import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    RECOVERING,
    PartitionRegistration,
)
from kwire.messages.metadata_versions import MetadataVersion
from kwire.messages.records.partition_change import PartitionChangeRecord


class Election(Enum):
    """The replicas that may be elected."""

    PREFERRED = "the first replica if it is in the ISR"
    ONLINE = "any replica of the ISR"
    UNCLEAN = "any replica of the ISR, else any replica"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChangeBuilder:
    """The requested change of a partition; None leaves a part as it is.

    acceptable: returns True if a replica may lead at all. default_directory: returns the directory
    of a new replica. directories: of replicas that moved, by broker.
    """

    partition: PartitionRegistration
    topic_id: UUID
    partition_id: int
    acceptable: Callable[[int], bool]
    metadata_version: MetadataVersion
    default_directory: Callable[[int], UUID]
    election: Election = Election.ONLINE
    isr: tuple[int, ...] | None = None
    replicas: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None
    leader_recovery_state: int | None = None
    directories: Mapping[int, UUID] = field(default_factory=dict)

    def build(self) -> VersionedRecord | None:
        """Return the record that makes the change; None if nothing changes.

        1. Complete a reassignment whose new replicas are all in the ISR.
        2. Elect. A leader that stays valid stays leader; an unclean leader is the whole ISR and has
           to recover.
        3. If replicas leave, name the leader even if it stays: that bumps the leader epoch.
        4. Set the ISR if it differs and is not empty: the last member stays in it.
        5. Before 3.6, bump the leader epoch also if the ISR shrinks.
        6. Set directories, replicas and the rest of a reassignment.
        """
        # 1.
        target = _Target.of(self)
        # 2.
        change = PartitionChangeRecord(topic_id=self.topic_id, partition_id=self.partition_id)
        self._elect(target, change)
        # 3.
        has_left = not set(self.partition.replicas) <= set(target.replicas)
        if change.leader == NO_LEADER_CHANGE and has_left:
            change.leader = self.partition.leader
        # 4.
        if change.isr is None and target.isr and target.isr != self.partition.isr:
            change.isr = target.isr
        # 5.
        self._bump_on_shrink(change)
        # 6.
        self._assign(target, change)
        state = self.leader_recovery_state
        if state is not None and state != self.partition.leader_recovery_state:
            change.leader_recovery_state = state
        if is_no_op(change):
            return None
        version = self.metadata_version.partition_change_record
        return VersionedRecord(record=change, version=version)

    def _elect(self, target: _Target, change: PartitionChangeRecord) -> None:
        leader, clean = self._leader(target)
        if leader != self.partition.leader:
            change.leader = leader
            # An unclean leader may lack committed records: nobody else may count as in sync with
            # it, and it has to bring the log into a consistent state first (KIP-704).
            if not clean:
                change.isr = (leader,)
                if self.partition.leader_recovery_state != RECOVERING:
                    change.leader_recovery_state = RECOVERING
        if self.metadata_version.supports_elr:
            change.eligible_leader_replicas = () if self.partition.elr else None
            change.last_known_elr = () if self.partition.last_known_elr else None

    def _leader(self, target: _Target) -> tuple[int, bool]:
        """Return the leader from now on, and True if it has every committed record."""
        # The present leader first: an election that changes nothing costs the clients nothing.
        candidates = [self.partition.leader, *target.replicas]
        if self.election is Election.PREFERRED:
            candidates.insert(0, target.replicas[0])
        for replica in candidates:
            if replica in target.isr and self.acceptable(replica):
                return replica, True
        if self.election is Election.UNCLEAN:
            for replica in target.replicas:
                if self.acceptable(replica):
                    return replica, False
        return NO_LEADER, True

    def _bump_on_shrink(self, change: PartitionChangeRecord) -> None:
        """Bump the leader epoch if the ISR shrinks: brokers before 3.6 need that (KAFKA-15021)."""
        if change.leader != NO_LEADER_CHANGE or change.isr is None:
            return
        shrunk = not set(self.partition.isr) <= set(change.isr)
        if shrunk and self.metadata_version.bumps_leader_epoch_on_isr_shrink:
            change.leader = self.partition.leader

    def _assign(self, target: _Target, change: PartitionChangeRecord) -> None:
        partition = self.partition
        if target.replicas and self.metadata_version.supports_directory_assignment:
            directories = tuple(self._directory(replica) for replica in target.replicas)
            if directories != partition.directories:
                change.directories = directories
        if target.replicas and target.replicas != partition.replicas:
            change.replicas = target.replicas
        if target.removing != partition.removing_replicas:
            change.removing_replicas = target.removing
        if target.adding != partition.adding_replicas:
            change.adding_replicas = target.adding

    def _directory(self, replica: int) -> UUID:
        if replica in self.directories:
            return self.directories[replica]
        if replica in self.partition.replicas:
            return self.partition.directory(replica)
        return self.default_directory(replica)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """The partition after the change, but for its leader."""

    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    removing: tuple[int, ...]
    adding: tuple[int, ...]

    @classmethod
    def of(cls, change: PartitionChangeBuilder) -> _Target:
        old = change.partition
        target = cls(
            isr=old.isr if change.isr is None else change.isr,
            replicas=change.replicas or old.replicas,
            removing=old.removing_replicas if change.removing is None else change.removing,
            adding=old.adding_replicas if change.adding is None else change.adding,
        )
        return target._completed()

    def _completed(self) -> _Target:
        """Complete the reassignment, once all replicas that stay or come are in the ISR."""
        replicas = tuple(replica for replica in self.replicas if replica not in self.removing)
        isr = tuple(replica for replica in self.isr if replica not in self.removing)
        is_reassigning = self.removing or self.adding
        if not is_reassigning or not replicas or not isr or not set(replicas) <= set(isr):
            return self
        return _Target(isr=isr, replicas=replicas, removing=(), adding=())


def is_no_op(change: PartitionChangeRecord) -> bool:
    """Return True if a record would only bump the partition epoch."""
    return (
        change.leader == NO_LEADER_CHANGE
        and change.leader_recovery_state == NO_RECOVERY_CHANGE
        and change.isr is None
        and change.replicas is None
        and change.removing_replicas is None
        and change.adding_replicas is None
        and change.directories is None
        and change.eligible_leader_replicas is None
        and change.last_known_elr is None
    )
