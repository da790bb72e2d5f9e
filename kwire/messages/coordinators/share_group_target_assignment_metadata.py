"""ShareGroupTargetAssignmentMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue
from kwire.codec.notation import int32, int64, string, tagged


class ShareGroupTargetAssignmentMetadataKey(CoordinatorKey, key=12, versions="0"):
    """Keys the epoch of a share group's target assignment by group (KIP-932)."""

    group_id: str = string


class ShareGroupTargetAssignmentMetadataValue(
    CoordinatorValue, key=12, versions="0", flexible="0+"
):
    """Holds the epoch that a share group's target assignment is for (KIP-932)."""

    assignment_epoch: int = int32
    assignment_timestamp: int = tagged(0, int64)
