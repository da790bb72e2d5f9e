"""The metadata up to one offset, as handlers see it."""

from __future__ import annotations

from msgspec import Struct
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.image import EMPTY, MetadataImage, apply
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord


class MetadataView(Struct, frozen=True, kw_only=True):
    """An image, its end, and the offsets of registrations.

    end_offset: the offset after the last record in the image. registrations: offset of each
    broker's RegisterBrokerRecord.
    """

    image: MetadataImage = EMPTY
    end_offset: int = 0
    registrations: HashTrieMap[int, int] = HashTrieMap()

    def applied(self, record: VersionedRecord, offset: int) -> MetadataView:
        """Return the view after the record at that offset."""
        registrations, message = self.registrations, record.record
        if isinstance(message, RegisterBrokerRecord):
            registrations = registrations.insert(message.broker_id, offset)
        elif isinstance(message, UnregisterBrokerRecord) and message.broker_id in registrations:
            registrations = registrations.remove(message.broker_id)
        image = apply(self.image, record)
        return MetadataView(image=image, end_offset=offset + 1, registrations=registrations)
