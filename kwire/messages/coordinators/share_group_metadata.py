"""ShareGroupMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue
from kwire.codec.notation import int32, int64, string


class ShareGroupMetadataKey(CoordinatorKey, key=11, versions="0,11"):
    """Keys the epoch of a share group by the group's id (KIP-932)."""

    group_id: str = string


class ShareGroupMetadataValue(CoordinatorValue, key=11, versions="0", flexible="0+"):
    """Holds a share group's epoch and a hash of its topics (KIP-932)."""

    epoch: int = int32
    metadata_hash: int = int64
