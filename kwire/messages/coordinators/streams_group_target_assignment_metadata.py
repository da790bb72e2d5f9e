"""StreamsGroupTargetAssignmentMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue
from kwire.codec.notation import int32, int64, string, tagged


class StreamsGroupTargetAssignmentMetadataKey(CoordinatorKey, key=20, versions="0"):
    """Keys the epoch of a streams group's target assignment by group (KIP-1071)."""

    group_id: str = string


class StreamsGroupTargetAssignmentMetadataValue(
    CoordinatorValue, key=20, versions="0", flexible="0+"
):
    """Holds the epoch that a streams group's target assignment is for (KIP-1071)."""

    assignment_epoch: int = int32
    assignment_timestamp: int = tagged(0, int64)
