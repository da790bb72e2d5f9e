"""Batches that an observer has fetched and the quorum has not committed yet.

A leader returns records up to the end of its log, not to its high watermark; another leader may
undo the last ones (KIP-595).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from kwire.batches import RecordBatch
from kwire.errors import WireError
from kwire.logdir.names import OffsetAndEpoch

UNCOMMITTED_LIMIT = 64 * 1024 * 1024
"""Bytes that may wait for the high watermark."""


class UncommittedBatches:
    """Batches after `start`, below which everything is committed; start has the last epoch."""

    def __init__(self, start: OffsetAndEpoch) -> None:
        self._start = start
        self._batches: deque[RecordBatch] = deque()
        self._size = 0

    @property
    def start(self) -> OffsetAndEpoch:
        """The first offset that is not taken yet, and the epoch of the record before it."""
        return self._start

    @property
    def end(self) -> OffsetAndEpoch:
        """The next offset to fetch, and the epoch of the record before it."""
        if not self._batches:
            return self._start
        return _end(self._batches[-1])

    def append(self, batch: RecordBatch) -> None:
        """Add a fetched batch; raise WireError if it is not the next one, or too much waits."""
        if batch.base_offset != self.end.offset:
            raise WireError(
                f"a batch of the metadata log begins at offset {batch.base_offset},"
                f" {self.end.offset} is next"
            )
        self._size += len(batch.data)
        if self._size > UNCOMMITTED_LIMIT:
            raise WireError(
                f"more than {UNCOMMITTED_LIMIT} bytes of the metadata log are not committed"
            )
        self._batches.append(batch)

    def truncate(self, diverging: OffsetAndEpoch) -> None:
        """Drop batches that the leader's log lacks; `diverging` is the end of an epoch there.

        1. Of this epoch, or the last one before it, this log has an end as well.
        2. Drop what is behind the smaller of both, but nothing that is committed.
        """
        # 1.
        own = self._end_of_epoch(diverging.epoch)
        # 2.
        keep = min(own.offset, diverging.offset)
        while self._batches and _end(self._batches[-1]).offset > keep:
            self._size -= len(self._batches.pop().data)

    def take(self, high_watermark: int) -> Iterator[RecordBatch]:
        """Remove and yield the batches that are committed now."""
        while self._batches and _end(self._batches[0]).offset <= high_watermark:
            batch = self._batches.popleft()
            self._size -= len(batch.data)
            self._start = _end(batch)
            yield batch

    def _end_of_epoch(self, epoch: int) -> OffsetAndEpoch:
        for batch in reversed(self._batches):
            if batch.partition_leader_epoch <= epoch:
                return _end(batch)
        return self._start


def _end(batch: RecordBatch) -> OffsetAndEpoch:
    return OffsetAndEpoch(offset=batch.last_offset + 1, epoch=batch.partition_leader_epoch)
