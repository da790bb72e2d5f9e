"""PartitionChangeRecord, type 5 of the cluster metadata log."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import array, field, int8, int32, nullable, tagged, uuid


class PartitionChangeRecord(MetadataRecord, key=5, versions="0-2", flexible="0+"):
    """A partition gets a new leader, ISR or replicas; what stays is left out (KIP-631)."""

    partition_id: int = field(int32, default=-1)
    topic_id: UUID = uuid
    isr: tuple[int, ...] | None = tagged(0, nullable(array(int32)), default=None)
    leader: int = tagged(1, int32, default=-2)
    replicas: tuple[int, ...] | None = tagged(2, nullable(array(int32)), default=None)
    removing_replicas: tuple[int, ...] | None = tagged(3, nullable(array(int32)), default=None)
    adding_replicas: tuple[int, ...] | None = tagged(4, nullable(array(int32)), default=None)
    leader_recovery_state: int = tagged(5, int8, default=-1)
    directories: tuple[UUID, ...] | None = tagged(8, nullable(array(uuid)), "1+", default=None)
    eligible_leader_replicas: tuple[int, ...] | None = tagged(
        6, nullable(array(int32)), "2+", default=None
    )
    last_known_elr: tuple[int, ...] | None = tagged(7, nullable(array(int32)), "2+", default=None)
