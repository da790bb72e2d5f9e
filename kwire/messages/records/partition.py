"""PartitionRecord, type 3 of the cluster metadata log."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import array, field, int8, int32, nullable, since, tagged, uuid


class PartitionRecord(MetadataRecord, key=3, versions="0-2", flexible="0+"):
    """A partition is written down whole: replicas, ISR, leader and epochs (KIP-631)."""

    partition_id: int = field(int32, default=-1)
    topic_id: UUID = uuid
    replicas: tuple[int, ...] = array(int32)
    isr: tuple[int, ...] = array(int32)
    removing_replicas: tuple[int, ...] = array(int32)
    adding_replicas: tuple[int, ...] = array(int32)
    leader: int = field(int32, default=-1)
    leader_recovery_state: int = tagged(0, int8)
    leader_epoch: int = field(int32, default=-1)
    partition_epoch: int = field(int32, default=-1)
    directories: tuple[UUID, ...] = since(1, array(uuid))
    eligible_leader_replicas: tuple[int, ...] | None = tagged(
        1, nullable(array(int32)), "2+", default=None
    )
    last_known_elr: tuple[int, ...] | None = tagged(2, nullable(array(int32)), "2+", default=None)
