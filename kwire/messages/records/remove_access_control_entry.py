"""RemoveAccessControlEntryRecord, type 19 of the cluster metadata log."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import uuid


class RemoveAccessControlEntryRecord(MetadataRecord, key=19, versions="0", flexible="0+"):
    """An ACL is no longer in force (KIP-801)."""

    id: UUID = uuid
