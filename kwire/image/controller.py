"""A controller's registration in the image (KIP-919)."""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.image.endpoint import Endpoint, endpoint_groups, feature_groups, supported
from kwire.messages.records.register_controller import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from kwire.net.negotiation import VersionRange


class ControllerRegistration(Struct, frozen=True, kw_only=True):
    """A controller that is, or was, part of the quorum."""

    id: int
    incarnation_id: UUID
    endpoints: tuple[Endpoint, ...] = ()
    features: HashTrieMap[str, VersionRange] = HashTrieMap()
    zk_migration_ready: bool = False

    @classmethod
    def of(cls, record: RegisterControllerRecord) -> ControllerRegistration:
        """Return the controller that a RegisterControllerRecord describes."""
        return cls(
            id=record.controller_id,
            incarnation_id=record.incarnation_id,
            endpoints=tuple(Endpoint.of(endpoint) for endpoint in record.end_points),
            features=HashTrieMap({item.name: supported(item) for item in record.features}),
            zk_migration_ready=record.zk_migration_ready,
        )

    def record(self) -> VersionedRecord:
        """Return the RegisterControllerRecord of it."""
        record = RegisterControllerRecord(
            controller_id=self.id,
            incarnation_id=self.incarnation_id,
            zk_migration_ready=self.zk_migration_ready,
            end_points=endpoint_groups(ControllerEndpoint, self.endpoints),
            features=feature_groups(ControllerFeature, sorted(self.features.items())),
        )
        return VersionedRecord(record=record, version=0)
