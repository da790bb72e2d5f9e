"""The metadata up to one offset, as handlers see it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.image import EMPTY, MetadataDelta, MetadataImage
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

    def applied(self, records: Iterable[VersionedRecord], base_offset: int) -> MetadataView:
        """Return the view after records at consecutive offsets. Raises ReplayError."""
        delta = ViewDelta(self)
        for offset, record in enumerate(records, base_offset):
            delta.replay(record, offset)
        return delta.view


class ViewDelta:
    """A view and the records after it, which become a view together."""

    def __init__(self, view: MetadataView) -> None:
        self._image = MetadataDelta(view.image)
        self._end_offset = view.end_offset
        self._registrations = view.registrations

    @property
    def image(self) -> MetadataImage:
        """The image after every record so far."""
        return self._image.image

    @property
    def view(self) -> MetadataView:
        """The view after every record so far."""
        return MetadataView(
            image=self.image, end_offset=self._end_offset, registrations=self._registrations
        )

    def replay(self, record: VersionedRecord, offset: int) -> None:
        """Add the record at that offset. Raises ReplayError if it does not fit."""
        self._image.replay(record)
        self._end_offset = offset + 1
        message = record.record
        if type(message) is RegisterBrokerRecord:
            self._registrations = self._registrations.insert(message.broker_id, offset)
        elif type(message) is UnregisterBrokerRecord:
            self._registrations = self._registrations.discard(message.broker_id)
