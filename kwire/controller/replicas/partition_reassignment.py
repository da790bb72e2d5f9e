"""The replicas of a partition while it is reassigned (KIP-455).

Java: PartitionReassignmentReplicas, PartitionReassignmentRevert.
"""

from __future__ import annotations

from dataclasses import dataclass

from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.partition import PartitionRegistration


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionReassignment:
    """The replicas during a reassignment, by broker id: those to come and those to go included."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]

    @classmethod
    def between(cls, current: tuple[int, ...], target: tuple[int, ...]) -> PartitionReassignment:
        """Return the reassignment of a partition from one list of replicas to another.

        The new list comes first, so that the preferred leader is at once that of the new list.
        Replicas that come or go are in order of their ids.
        """
        removing = tuple(sorted(set(current) - set(target)))
        adding = tuple(sorted(set(target) - set(current)))
        return cls(replicas=target + removing, adding=adding, removing=removing)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReassignmentRevert:
    """The replicas and the ISR after a cancelled reassignment.

    unclean: the ISR had none but added replicas. The first one from before is then the ISR, though
    it may lack committed records.
    """

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    unclean: bool

    @classmethod
    def of(cls, partition: PartitionRegistration) -> ReassignmentRevert:
        """Take the added replicas out, and keep those that were to be removed.

        Raises ApiError with INVALID_REPLICA_ASSIGNMENT if no replica remains.
        """
        added = partition.adding_replicas
        replicas = tuple(replica for replica in partition.replicas if replica not in added)
        isr = tuple(replica for replica in partition.isr if replica not in added)
        if isr:
            return cls(replicas=replicas, isr=isr, unclean=False)
        if not replicas:
            text = "Every replica of the partition was added by the reassignment."
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
        return cls(replicas=replicas, isr=replicas[:1], unclean=True)


def replication_factor(partition: PartitionRegistration) -> int:
    """Return the number of replicas that the partition has, or is to have after a reassignment."""
    replicas = {*partition.replicas, *partition.adding_replicas}
    return len(replicas - set(partition.removing_replicas))
