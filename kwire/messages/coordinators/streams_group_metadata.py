"""StreamsGroupMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int32, int64, nullable, string, tagged


class StreamsGroupMetadataKey(CoordinatorKey, key=17, versions="0"):
    """Keys the epoch of a streams group by the group's id (KIP-1071)."""

    group_id: str = string


class LastAssignmentConfig(Group):
    key: str = string
    value: str = string


class StreamsGroupMetadataValue(CoordinatorValue, key=17, versions="0", flexible="0+"):
    """Holds a streams group's epoch, its topic hash and checked topology (KIP-1071)."""

    epoch: int = int32
    metadata_hash: int = int64
    validated_topology_epoch: int = tagged(0, int32, default=-1)
    last_assignment_configs: list[LastAssignmentConfig] | None = tagged(
        1, nullable(array(LastAssignmentConfig))
    )
    stored_description_topology_epoch: int = tagged(2, int32, default=-1)
    failed_description_topology_epoch: int = tagged(3, int32, default=-1)
