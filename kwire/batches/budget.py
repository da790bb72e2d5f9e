"""A bound for all batches of a frame: many short ones, each within its limit, are a bomb too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from kwire.batches.compression import Limit
from kwire.batches.current import RecordBatch
from kwire.batches.record import Record
from kwire.errors import BatchError, TooLarge

MOST = 16 * 1024 * 1024
FREE = 64 * 1024
RATIO = 10
RECORDS = 250_000
"""Records of one frame; 8 MiB of the metadata log, all that a node sends at once, have fewer."""


@dataclass(slots=True, kw_only=True)
class Budget:
    """Bytes, unpacked, and records that the batches of a frame may still have."""

    size: int
    records: int = RECORDS

    @classmethod
    def of_frame(cls, size: int) -> Self:
        """Return the budget of batches that come to `size` bytes.

        Tenfold, since Kafka's nodes do not compress the metadata log (KafkaRaftClient).
        """
        return cls(size=min(MOST, max(FREE, RATIO * size)))

    def read(self, batch: RecordBatch) -> Iterator[Record]:
        """Return the records of a batch, which takes its part of what is left.

        Raises TooLarge where too little is, BatchError where the batch cannot be unpacked. Nothing
        is left then: every further try would cost as much again.
        """
        if batch.count <= 0:
            return batch.records()
        try:
            data = self._unpacked(batch)
        except BatchError:
            self.size = self.records = 0
            raise
        self.size -= len(data)
        self.records -= batch.count
        return batch.records_in(data)

    def _unpacked(self, batch: RecordBatch) -> bytes:
        if batch.count <= self.records:
            with suppress(TooLarge):
                data = batch.unpacked(Limit(size=self.size, free=self.size))
                if len(data) <= self.size:
                    return data
        raise TooLarge("the batches of the frame unpack to too much to be read")
