"""The producer ids of the image (org.apache.kafka.image.ProducerIdsImage, KIP-730)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from kwire.batches.metadata_records import VersionedRecord
from kwire.messages.records.producer_ids import ProducerIdsRecord

NONE_GIVEN = -1

BLOCK_SIZE = 1000
"""Ids in a block (ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE)."""


class ProducerIdsImage(Struct, frozen=True, kw_only=True):
    """The first producer id that no broker was given; NONE_GIVEN before the first block."""

    next_producer_id: int = NONE_GIVEN

    def put(self, record: ProducerIdsRecord) -> ProducerIdsImage:
        """Note the block that was given to a broker."""
        return ProducerIdsImage(next_producer_id=record.next_producer_id)

    def records(self) -> Iterator[VersionedRecord]:
        """Yield the record that writes it down, without a broker: the image does not keep it."""
        if self.next_producer_id >= 0:
            record = ProducerIdsRecord(
                broker_id=-1, broker_epoch=-1, next_producer_id=self.next_producer_id
            )
            yield VersionedRecord(record=record, version=0)
