"""Records on top of an image that become one together (org.apache.kafka.image.MetadataDelta)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.image.metadata import MetadataImage
from kwire.image.replay import apply
from kwire.image.topics_delta import CHANGES, TopicsDelta


class MetadataDelta:
    """An image and the records after it. One that does not fit raises ReplayError."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image
        self._topics: TopicsDelta | None = None

    @property
    def image(self) -> MetadataImage:
        """The image after every record so far."""
        if self._topics is not None:
            self._image = replace(self._image, topics=self._topics.image())
            self._topics = None
        return self._image

    def replay(self, record: MetadataRecord | VersionedRecord) -> None:
        """Add a record. After a ReplayError the delta is of no use."""
        message = record.record if isinstance(record, VersionedRecord) else record
        change = CHANGES.get(type(message))
        if change is None:
            self._image = apply(self.image, record)
            return
        if self._topics is None:
            self._topics = TopicsDelta(self._image.topics)
        change(self._topics, message)


def apply_all(
    image: MetadataImage, records: Iterable[MetadataRecord | VersionedRecord]
) -> MetadataImage:
    """Return the image after all of them. Raises ReplayError where one does not fit."""
    delta = MetadataDelta(image)
    for record in records:
        delta.replay(record)
    return delta.image
