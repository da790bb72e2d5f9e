"""ConsumerGroupMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue
from kwire.codec.notation import int32, int64, string, tagged


class ConsumerGroupMetadataKey(CoordinatorKey, key=3, versions="0,3"):
    """Keys the epoch of a consumer group by the group's id (KIP-848)."""

    group_id: str = string


class ConsumerGroupMetadataValue(CoordinatorValue, key=3, versions="0", flexible="0+"):
    """Holds a consumer group's epoch and a hash of its topics (KIP-848)."""

    epoch: int = int32
    metadata_hash: int = tagged(0, int64)
