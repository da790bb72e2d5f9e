"""ClearElrRecord, type 28 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import string


class ClearElrRecord(MetadataRecord, key=28, versions="0", flexible="0+"):
    """One topic, or every topic, loses its eligible leader replicas (KIP-966)."""

    topic_name: str = string
