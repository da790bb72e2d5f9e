"""Snapshots of the metadata, written when the log has grown, and the log's cleaning (KIP-630).

The image is a value, so that a thread can encode and write it while the loop serves. The log and
the replica learn of the file in the loop, after it is flushed, renamed and checked.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator

from kwire.batches import RecordBatch, read_batches
from kwire.controller.raft import OffsetAndEpoch, Raft, RaftEvent, SnapshotTaken
from kwire.controller.server.directory_log import DirectoryLog
from kwire.image import MetadataImage
from kwire.logdir.snapshots import build_snapshot

logger = logging.getLogger(__name__)


class Snapshotter:
    """Writes a snapshot each time the log has grown by some bytes; one at a time.

    after_bytes: metadata.log.max.record.bytes.between.snapshots. retention_bytes: the most that log
    and snapshots take, metadata.max.retention.bytes.
    """

    def __init__(
        self,
        log: DirectoryLog,
        raft: Raft,
        *,
        feed: Callable[[RaftEvent], None],
        fail: Callable[[Exception], None],
        after_bytes: int,
        retention_bytes: int,
    ) -> None:
        self._log = log
        self._raft = raft
        self._feed = feed
        self._fail = fail
        self._after_bytes = after_bytes
        self._retention_bytes = retention_bytes
        self._size = log.size
        self._writing: asyncio.Task[None] | None = None
        self._stopped = False

    def consider(self, image: MetadataImage, offset: int, now: int) -> None:
        """Begin a snapshot of everything below `offset`, which is committed, if it is time.

        Never within a metadata transaction, which may still be aborted (KIP-868). The voters and
        kraft.version are those in force at its last record.
        """
        size = self._log.size
        # A log that was cleaned, or began anew, is smaller: growth counts from there.
        self._size = min(self._size, size)
        grown = size - self._size
        if grown < self._after_bytes or image.before is not None or self._is_busy:
            return
        self._size = size
        # The batch of the last record, for its epoch and its time.
        (last,) = read_batches(self._log.read(offset - 1, 1, offset))
        assert isinstance(last, RecordBatch), "the metadata log has format 2 only"
        id = OffsetAndEpoch(offset=offset, epoch=last.partition_leader_epoch)
        voters = self._raft.voters_at(offset - 1)
        batches = build_snapshot(
            image.records(),
            epoch=id.epoch,
            now=now,
            last_contained_log_timestamp=last.max_timestamp,
            kraft_version=self._raft.kraft_version_at(offset - 1),
            voters=voters.to_record() if voters is not None else None,
        )
        self._writing = asyncio.get_running_loop().create_task(self._write(id, batches))

    @property
    def _is_busy(self) -> bool:
        return self._writing is not None and not self._writing.done()

    async def _write(self, id: OffsetAndEpoch, batches: Iterable[bytes]) -> None:
        try:
            await asyncio.to_thread(self._log.store_snapshot, id, self._until_stopped(batches))
            self._log.add_snapshot(id)
            self._log.clean(self._retention_bytes)
        except _Stopped:
            return
        except Exception as error:
            self._fail(error)
            return
        self._feed(SnapshotTaken(id=id))
        logger.info("snapshot %s is written", id)

    def _until_stopped(self, batches: Iterable[bytes]) -> Iterator[bytes]:
        for batch in batches:
            if self._stopped:
                raise _Stopped
            yield batch

    async def stop(self) -> None:
        """Give up the snapshot being written; return when no thread uses the directory any more."""
        self._stopped = True
        if self._writing is not None:
            await self._writing


class _Stopped(Exception):
    """Raised in the writing thread if the node ends before the snapshot is complete."""
