"""OffsetCommit, a record of a coordinator's topic."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue
from kwire.codec.notation import field, int32, int64, since, string, tagged, uuid


class OffsetCommitKey(CoordinatorKey, key=1, versions="0-1"):
    """Keys a committed offset by group, topic and partition."""

    group: str = string
    topic: str = string
    partition: int = int32


class OffsetCommitValue(CoordinatorValue, key=1, versions="0-4", flexible="4+"):
    """Holds a committed offset with its leader epoch, metadata and times."""

    offset: int = int64
    leader_epoch: int = since(3, int32, default=-1, ignorable=True)
    metadata: str = string
    commit_timestamp: int = int64
    expire_timestamp: int = field(int64, "1", default=-1, ignorable=True)
    topic_id: UUID = tagged(0, uuid, "4+", ignorable=True)
