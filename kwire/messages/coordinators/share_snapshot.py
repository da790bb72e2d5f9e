"""ShareSnapshot, a record of a coordinator's topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int8, int16, int32, int64, string, tagged, uuid


class ShareSnapshotKey(CoordinatorKey, key=0, versions="0"):
    """Keys the whole state of a share partition by group, topic id and partition (KIP-932)."""

    group_id: str = string
    topic_id: UUID = uuid
    partition: int = int32


class StateBatch(Group):
    first_offset: int = int64
    last_offset: int = int64
    delivery_state: int = int8
    delivery_count: int = int16


class ShareSnapshotValue(CoordinatorValue, key=0, versions="0", flexible="0+"):
    """Holds a share partition's start offset, epochs and delivery states (KIP-932)."""

    snapshot_epoch: int = int32
    state_epoch: int = int32
    leader_epoch: int = int32
    start_offset: int = int64
    delivery_complete_count: int = tagged(0, int32, default=-1)
    create_timestamp: int = int64
    write_timestamp: int = int64
    state_batches: list[StateBatch] = array(StateBatch)
