"""ConfigRecord, type 4 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import int8, nullable, string


class ConfigRecord(MetadataRecord, key=4, versions="0", flexible="0+"):
    """One configuration key of a resource gets a value or loses it (KIP-631)."""

    resource_type: int = int8
    resource_name: str = string
    name: str = string
    value: str | None = nullable(string)
