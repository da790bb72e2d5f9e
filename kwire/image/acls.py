"""The ACLs of the image (org.apache.kafka.image.AclsImage, KIP-801)."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from msgspec import Struct
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.image.errors import ReplayError
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.messages.records.remove_access_control_entry import RemoveAccessControlEntryRecord
from kwire.text.ids import uuid_text


class StandardAcl(Struct, frozen=True, kw_only=True):
    """One rule; the numbers are those of AclOperation, AclPermissionType, PatternType."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

    @classmethod
    def of(cls, record: AccessControlEntryRecord) -> StandardAcl:
        """Return the rule of a record."""
        return cls(
            resource_type=record.resource_type,
            resource_name=record.resource_name,
            pattern_type=record.pattern_type,
            principal=record.principal,
            host=record.host,
            operation=record.operation,
            permission_type=record.permission_type,
        )

    def record(self, id: UUID) -> VersionedRecord:
        """Return the AccessControlEntryRecord of it."""
        record = AccessControlEntryRecord(
            id=id,
            resource_type=self.resource_type,
            resource_name=self.resource_name,
            pattern_type=self.pattern_type,
            principal=self.principal,
            host=self.host,
            operation=self.operation,
            permission_type=self.permission_type,
        )
        return VersionedRecord(record=record, version=0)


class AclsImage(Struct, frozen=True, kw_only=True):
    """Every rule, by its id."""

    by_id: HashTrieMap[UUID, StandardAcl] = HashTrieMap()

    def put(self, record: AccessControlEntryRecord) -> AclsImage:
        """Add a rule."""
        return AclsImage(by_id=self.by_id.insert(record.id, StandardAcl.of(record)))

    def remove(self, record: RemoveAccessControlEntryRecord) -> AclsImage:
        """Remove a rule."""
        if record.id not in self.by_id:
            raise ReplayError(f"ACL {uuid_text(record.id)} is not known")
        return AclsImage(by_id=self.by_id.remove(record.id))

    def records(self) -> Iterator[VersionedRecord]:
        """Yield the records that write them down."""
        for id in sorted(self.by_id):
            yield self.by_id[id].record(id)
