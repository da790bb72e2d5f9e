"""RemoveTopicRecord, type 9 of the cluster metadata log."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import uuid


class RemoveTopicRecord(MetadataRecord, key=9, versions="0", flexible="0+"):
    """A topic is deleted with everything that belongs to it (KIP-631)."""

    topic_id: UUID = uuid
