"""ClientQuotaRecord, type 14 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import Group, MetadataRecord
from kwire.codec.notation import array, boolean, float64, nullable, string


class EntityData(Group):
    entity_type: str = string
    entity_name: str | None = nullable(string)


class ClientQuotaRecord(MetadataRecord, key=14, versions="0", flexible="0+"):
    """One quota of a user, client id or address is set or lifted (KIP-746)."""

    entity: list[EntityData] = array(EntityData)
    key: str = string
    value: float = float64
    remove: bool = boolean
