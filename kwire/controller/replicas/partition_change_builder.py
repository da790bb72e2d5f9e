"""The change of one partition: ISR, ELR, leader (Java: PartitionChangeBuilder, KIP-966)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
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
    """The replicas that may be elected: of the ISR, or of the ELR if the ISR is empty."""

    PREFERRED = "the first replica, else any such one"
    ONLINE = "any such replica"
    UNCLEAN = "any such replica, else any replica"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChangeBuilder:
    """The requested change of a partition; None leaves a part as it is.

    acceptable: returns True if a replica may lead at all. default_directory: returns the directory
    of a new replica. directories: of replicas that moved, by broker.
    eligible_leader_replicas_enabled: eligible.leader.replicas.version is above 0; only then
    the next three count. min_isr: min.insync.replicas of the topic, not above its replicas.
    unclean_shutdown_replicas: brokers that may have lost records when they stopped.
    use_last_known_leader_in_balanced_recovery: LastKnownElr has the last leader, which may lead
    again when ISR and ELR are empty, and not all who left the ELR.
    bumps_leader_epochs: brokers must see a new leader epoch when the ISR shrinks.
    """

    partition: PartitionRegistration
    topic_id: UUID
    partition_id: int
    acceptable: Callable[[int], bool]
    metadata_version: MetadataVersion
    default_directory: Callable[[int], UUID]
    election: Election = Election.ONLINE
    eligible_leader_replicas_enabled: bool = False
    min_isr: int = 1
    unclean_shutdown_replicas: tuple[int, ...] = ()
    use_last_known_leader_in_balanced_recovery: bool = True
    bumps_leader_epochs: bool = False
    isr: tuple[int, ...] | None = None
    replicas: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None
    leader_recovery_state: int | None = None
    directories: Mapping[int, UUID] = field(default_factory=dict)

    def build(self) -> VersionedRecord | None:
        """Return the record that makes the change; None if nothing changes.

        1. Complete a reassignment whose new replicas are in the ISR.
        2. Find the ELR: if the ISR is below min ISR, who leaves it may still lead.
        3. Elect. A leader that stays valid stays leader; one from the ELR is the whole ISR; an
           unclean one too, and it has to recover.
        4. If replicas leave, name the leader even if it stays: that bumps the leader epoch.
        5. Set the ELR if it differs; an unclean election and a lower feature level empty it.
        6. Set the ISR if it differs. Without ELR the last member stays in it; with ELR it may be
           empty.
        7. Before 3.6, or if the rules say so, bump the leader epoch also if the ISR shrinks.
        8. Keep the last known leader when nobody leads any more; forget it when somebody does.
        9. Set directories, replicas and the rest of a reassignment.
        """
        # 1., 2.
        target = self._with_elr(_Target.of(self))
        # 3.
        change = PartitionChangeRecord(topic_id=self.topic_id, partition_id=self.partition_id)
        target = self._elect(target, change)
        # 4.
        has_left = not set(self.partition.replicas) <= set(target.replicas)
        if change.leader == NO_LEADER_CHANGE and has_left:
            change.leader = self.partition.leader
        # 5.
        self._set_elr(target, change)
        # 6.
        may_be_empty = self.eligible_leader_replicas_enabled
        is_new = target.isr != self.partition.isr
        if change.isr is None and is_new and (target.isr or may_be_empty):
            change.isr = target.isr
        # 7.
        self._bump_on_shrink(change)
        # 8.
        self._set_last_known_leader(change)
        # 9.
        self._assign(target, change)
        state = self.leader_recovery_state
        if state is not None and state != self.partition.leader_recovery_state:
            change.leader_recovery_state = state
        if is_no_op(change):
            return None
        version = self.metadata_version.partition_change_record
        return VersionedRecord(record=change, version=version)

    def _with_elr(self, target: _Target) -> _Target:
        """Return the target with its ELR (maybePopulateTargetElr).

        1. An ISR of min ISR has every committed record: nobody else need be eligible.
        2. Below that, nothing is committed: members of the ISR and of the ELR that are no longer in
           the ISR keep all that was committed, unless they may have lost it.
        3. The last known ELR are those that were in ISR or ELR and are in neither any more.
        """
        if not self.eligible_leader_replicas_enabled:
            return target
        # 1.
        if len(target.isr) >= self.min_isr:
            return replace(target, elr=(), last_known_elr=())
        # 2.
        former = sorted({*self.partition.elr, *self.partition.isr})
        gone = (*target.isr, *self.unclean_shutdown_replicas)
        elr = tuple(replica for replica in former if replica not in gone)
        # 3.
        known = sorted({*former, *self.partition.last_known_elr})
        last_known = tuple(replica for replica in known if replica not in (*target.isr, *elr))
        return replace(target, elr=elr, last_known_elr=last_known)

    def _elect(self, target: _Target, change: PartitionChangeRecord) -> _Target:
        leader, clean = self._leader(target)
        if leader == self.partition.leader:
            return target
        change.leader = leader
        if leader in target.elr:
            elr = tuple(replica for replica in target.elr if replica != leader)
            target = replace(target, isr=(leader,), elr=elr)
        # An unclean leader may lack committed records: nobody else may count as in sync with
        # it, and it has to bring the log into a consistent state first (KIP-704).
        if not clean:
            change.isr = (leader,)
            if self.partition.leader_recovery_state != RECOVERING:
                change.leader_recovery_state = RECOVERING
        return target

    def _leader(self, target: _Target) -> tuple[int, bool]:
        """Return the leader from now on, and True if it has every committed record."""
        # The present leader first: an election that changes nothing costs the clients nothing.
        candidates = [self.partition.leader, *target.replicas]
        if self.election is Election.PREFERRED:
            candidates.insert(0, target.replicas[0])
        eligible = target.isr or target.elr
        for replica in candidates:
            if replica in eligible and self.acceptable(replica):
                return replica, True
        if self._may_elect_last_known_leader(target):
            return self.partition.last_known_elr[0], False
        if self.election is Election.UNCLEAN:
            for replica in target.replicas:
                if self.acceptable(replica):
                    return replica, False
        return NO_LEADER, True

    def _may_elect_last_known_leader(self, target: _Target) -> bool:
        """Return True if the last leader is there again, and nobody has all committed records."""
        last_known = self.partition.last_known_elr
        return (
            self.eligible_leader_replicas_enabled
            and self.use_last_known_leader_in_balanced_recovery
            and not target.isr
            and not target.elr
            # Several are the last known ELR, not the last leader.
            and len(last_known) == 1
            and self.acceptable(last_known[0])
        )

    def _set_elr(self, target: _Target, change: PartitionChangeRecord) -> None:
        is_unclean = change.isr is not None
        if is_unclean or not self.eligible_leader_replicas_enabled:
            target = replace(target, elr=(), last_known_elr=())
        if not self.metadata_version.supports_elr:
            return
        if target.elr != self.partition.elr:
            change.eligible_leader_replicas = target.elr
        if self.use_last_known_leader_in_balanced_recovery:
            return
        if target.last_known_elr != self.partition.last_known_elr:
            change.last_known_elr = target.last_known_elr

    def _set_last_known_leader(self, change: PartitionChangeRecord) -> None:
        if not self.use_last_known_leader_in_balanced_recovery:
            return
        if not self.eligible_leader_replicas_enabled:
            return
        if change.leader == NO_LEADER and not self.partition.last_known_elr:
            change.last_known_elr = (self.partition.leader,)
        elif change.leader >= 0 and self.partition.last_known_elr:
            change.last_known_elr = ()

    def _bump_on_shrink(self, change: PartitionChangeRecord) -> None:
        """Bump the leader epoch if the ISR shrinks: brokers before 3.6 need that (KAFKA-15021).

        So do those for which `bumps_leader_epochs` is set.
        """
        if change.leader != NO_LEADER_CHANGE or change.isr is None:
            return
        shrunk = not set(self.partition.isr) <= set(change.isr)
        needs_bump = self.metadata_version.bumps_leader_epoch_on_isr_shrink
        if shrunk and (needs_bump or self.bumps_leader_epochs):
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
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]

    @classmethod
    def of(cls, change: PartitionChangeBuilder) -> _Target:
        old = change.partition
        target = cls(
            isr=old.isr if change.isr is None else change.isr,
            replicas=change.replicas or old.replicas,
            removing=old.removing_replicas if change.removing is None else change.removing,
            adding=old.adding_replicas if change.adding is None else change.adding,
            elr=old.elr,
            last_known_elr=old.last_known_elr,
        )
        return target._completed()

    def _completed(self) -> _Target:
        """Return the target without its reassignment, if that is complete
        (PartitionReassignmentReplicas.maybeCompleteReassignment).

        1. Replicas that stay, and members of the ISR that stay, are there.
        2. Every replica that comes is in the ISR.
        3. If fewer come than go, every replica that stays is in the ISR too.
        """
        if not (self.removing or self.adding):
            return self
        replicas = tuple(replica for replica in self.replicas if replica not in self.removing)
        isr = tuple(replica for replica in self.isr if replica not in self.removing)
        # 1.
        if self.removing and not (replicas and isr):
            return self
        # 2.
        if not set(self.adding) <= set(isr):
            return self
        # 3.
        if len(self.adding) < len(self.removing) and not set(replicas) <= set(isr):
            return self
        return replace(self, isr=isr, replicas=replicas, removing=(), adding=())


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
