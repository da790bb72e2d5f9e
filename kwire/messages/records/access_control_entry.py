"""AccessControlEntryRecord, type 18 of the cluster metadata log."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import int8, string, uuid


class AccessControlEntryRecord(MetadataRecord, key=18, versions="0", flexible="0+"):
    """An ACL comes into force (KIP-801)."""

    id: UUID = uuid
    resource_type: int = int8
    resource_name: str = string
    pattern_type: int = int8
    principal: str = string
    host: str = string
    operation: int = int8
    permission_type: int = int8
