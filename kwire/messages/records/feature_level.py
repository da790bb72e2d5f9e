"""FeatureLevelRecord, type 12 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import int16, string


class FeatureLevelRecord(MetadataRecord, key=12, versions="0", flexible="0+"):
    """A feature, such as metadata.version, is finalized at a level (KIP-631)."""

    name: str = string
    feature_level: int = int16
