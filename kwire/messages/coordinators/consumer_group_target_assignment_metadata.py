"""ConsumerGroupTargetAssignmentMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue
from kwire.codec.notation import int32, int64, string, tagged


class ConsumerGroupTargetAssignmentMetadataKey(CoordinatorKey, key=6, versions="0,6"):
    """Keys the epoch of a consumer group's target assignment by group (KIP-848)."""

    group_id: str = string


class ConsumerGroupTargetAssignmentMetadataValue(
    CoordinatorValue, key=6, versions="0", flexible="0+"
):
    """Holds the epoch that a consumer group's target assignment is for (KIP-848)."""

    assignment_epoch: int = int32
    assignment_timestamp: int = tagged(0, int64)
