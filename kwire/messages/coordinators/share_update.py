"""ShareUpdate, a record of a coordinator's topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int8, int16, int32, int64, string, tagged, uuid


class ShareUpdateKey(CoordinatorKey, key=1, versions="0"):
    """Keys a change of a share partition by group, topic id and partition (KIP-932)."""

    group_id: str = string
    topic_id: UUID = uuid
    partition: int = int32


class StateBatch(Group):
    first_offset: int = int64
    last_offset: int = int64
    delivery_state: int = int8
    delivery_count: int = int16


class ShareUpdateValue(CoordinatorValue, key=1, versions="0", flexible="0+"):
    """Holds what has changed in a share partition since its snapshot (KIP-932)."""

    snapshot_epoch: int = int32
    leader_epoch: int = int32
    start_offset: int = int64
    delivery_complete_count: int = tagged(0, int32, default=-1)
    state_batches: list[StateBatch] = array(StateBatch)
