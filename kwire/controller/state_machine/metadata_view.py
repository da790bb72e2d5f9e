"""The metadata up to one offset, as requests are judged by it."""

from __future__ import annotations

from msgspec import Struct
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.image import EMPTY, MetadataImage, apply
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord


class View(Struct, frozen=True, kw_only=True):
    """An image, and what it takes to judge requests by it.

    end_offset: behind the last record in it. registrations: offset of each broker's
    RegisterBrokerRecord.
    """

    image: MetadataImage = EMPTY
    end_offset: int = 0
    registrations: HashTrieMap[int, int] = HashTrieMap()

    def applied(self, record: VersionedRecord, offset: int) -> View:
        """The view after the record at that offset."""
        registrations, message = self.registrations, record.record
        if isinstance(message, RegisterBrokerRecord):
            registrations = registrations.insert(message.broker_id, offset)
        elif isinstance(message, UnregisterBrokerRecord) and message.broker_id in registrations:
            registrations = registrations.remove(message.broker_id)
        image = apply(self.image, record)
        return View(image=image, end_offset=offset + 1, registrations=registrations)
