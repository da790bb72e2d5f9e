"""The client quotas of the image (org.apache.kafka.image.ClientQuotasImage, KIP-546)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.messages.records.client_quota import ClientQuotaRecord, EntityData

Entity = frozenset[tuple[str, str | None]]
"""Type and name, as ("user", "alice"); a name of None is the default of its type."""

EMPTY: HashTrieMap[str, float] = HashTrieMap()


class ClientQuotasImage(Struct, frozen=True, kw_only=True):
    """Quota keys with their values, by entity."""

    entities: HashTrieMap[Entity, HashTrieMap[str, float]] = HashTrieMap()

    def put(self, record: ClientQuotaRecord) -> ClientQuotasImage:
        """Set or remove a quota."""
        entity = frozenset((item.entity_type, item.entity_name) for item in record.entity)
        quotas = self.entities.get(entity, EMPTY)
        if not record.remove:
            quotas = quotas.insert(record.key, record.value)
        elif record.key in quotas:
            quotas = quotas.remove(record.key)
        if quotas:
            return ClientQuotasImage(entities=self.entities.insert(entity, quotas))
        known = entity in self.entities
        return ClientQuotasImage(entities=self.entities.remove(entity)) if known else self

    def records(self) -> Iterator[VersionedRecord]:
        """Yield the records that write them down."""
        for entity in sorted(self.entities, key=entity_order):
            parts = [
                EntityData(entity_type=type, entity_name=name)
                for type, name in sorted(entity, key=_part_order)
            ]
            for key, value in sorted(self.entities[entity].items()):
                record = ClientQuotaRecord(entity=parts, key=key, value=value, remove=False)
                yield VersionedRecord(record=record, version=0)


def entity_order(entity: Entity) -> list[tuple[str, bool, str]]:
    """Return a key to sort entities by: their parts, a default before the names of its type."""
    return sorted(_part_order(part) for part in entity)


def _part_order(part: tuple[str, str | None]) -> tuple[str, bool, str]:
    # None does not compare to a name.
    type, name = part
    return type, name is not None, name or ""
