"""TopicRecord, type 2 of the cluster metadata log."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import string, uuid


class TopicRecord(MetadataRecord, key=2, versions="0", flexible="0+"):
    """A topic comes into being and its name is tied to its id (KIP-631)."""

    name: str = string
    topic_id: UUID = uuid
