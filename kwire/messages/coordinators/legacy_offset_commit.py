"""LegacyOffsetCommit, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue
from kwire.codec.notation import int32, int64, string


class LegacyOffsetCommitKey(CoordinatorKey, key=0, versions="0"):
    """Keys a committed offset in the oldest type of record still read."""

    group: str = string
    topic: str = string
    partition: int = int32


class LegacyOffsetCommitValue(CoordinatorValue, key=0, versions="0"):
    """Holds a committed offset in the oldest type of record still read."""

    offset: int = int64
    metadata: str = string
    commit_timestamp: int = int64
