"""The metadata log of a replica: segments, snapshots and epochs in Kafka's own files.

It takes whole batches at the offsets and epochs they name and knows nothing of votes or leaders.
Appended batches are on the disk after `flush` only. Once the disk failed, every call raises
StorageFailed: what is there is unknown until the log is opened again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kwire.batches import RecordBatch, read_batches
from kwire.errors import InvalidValue, StorageFailed
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.leader_epochs import partition_metadata
from kwire.logdir.names import (
    LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA,
    OffsetAndEpoch,
    snapshot_name,
)
from kwire.logdir.recovery import RecoveredLog, recover, remove_left_overs
from kwire.logdir.segment import CHUNK, Segment, TornTail
from kwire.logdir.snapshots import SnapshotFile, load_snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The bounds of a segment; the defaults are those of metadata.log.segment.bytes and .ms."""

    segment_bytes: int = 1024 * 1024 * 1024
    segment_ms: int = 7 * 24 * 60 * 60 * 1000


_LEAST_READ = 64 * 1024
"""Bytes that are read at once, though fewer are wanted."""


class MetadataLog:
    """The log in a metadata folder, `__cluster_metadata-0`, open for writing."""

    def __init__(
        self, fs: FileSystem, folder: Path, recovered: RecoveredLog, config: LogConfig
    ) -> None:
        self.folder = folder
        self.torn: TornTail | None = recovered.torn
        """The bytes that opening had to cut off; None after an orderly end."""
        self._fs = fs
        self._config = config
        self._segments = recovered.segments
        self._snapshots = recovered.snapshots
        self._epochs = recovered.epochs
        self._failure: OSError | None = None
        self._closed = False
        self._start = recovered.start

    @classmethod
    def open(
        cls,
        folder: Path,
        fs: FileSystem = DISK,
        config: LogConfig | None = None,
        check: Callable[[RecoveredLog], None] = lambda recovered: None,
    ) -> MetadataLog:
        """Open a folder, or begin a log in it.

        1. Read and compare everything, by `check` too, which may raise.
        2. Cut a torn tail off the last segment. Remove what was left half written or half removed,
           and snapshots before the log's start.
        3. Where the latest snapshot is ahead of the log, begin the log anew after it.

        Raises FileError, with file and position, for what a crash cannot explain; nothing is
        changed then.
        """
        fs.make_folder(folder)
        # 1.
        recovered = recover(fs, folder)
        log = cls(fs, folder, recovered, config or LogConfig())
        try:
            check(recovered)
            # 2.
            if recovered.torn:
                recovered.segments[-1].cut_torn_tail()
            remove_left_overs(fs, folder)
            log._forget_snapshots(before=log._start)
            # 3. A crash between downloading a snapshot and starting the log anew after it leaves
            # the old log: this finishes it.
            if not log.truncate_to_latest_snapshot() and not log._segments:
                log._add_segment(0)
            log._write_small_files()
        except BaseException:
            log._close_files()
            raise
        return log

    @property
    def start_offset(self) -> int:
        """The first offset that can be read here; what is before it is in a snapshot."""
        return self._start

    @property
    def end_offset(self) -> int:
        """One more than the last offset, flushed or not."""
        return self._segments[-1].next_offset

    @property
    def last_fetched_epoch(self) -> int:
        """Epoch of the last record, or of the snapshot where no record follows it."""
        latest = self._epochs.latest
        if latest is not None:
            return latest
        return self._snapshots[-1].epoch if self._snapshots else 0

    @property
    def snapshots(self) -> tuple[OffsetAndEpoch, ...]:
        """Ids of the complete snapshots, oldest first."""
        return tuple(self._snapshots)

    @property
    def epoch_starts(self) -> tuple[OffsetAndEpoch, ...]:
        """Each epoch with the offset it begins at."""
        return self._epochs.starts

    @property
    def size(self) -> int:
        """Bytes in the segments."""
        return sum(segment.size for segment in self._segments)

    def append(self, data: bytes) -> int:
        """Write whole batches at the end, unflushed; return the new end offset.

        Raises InvalidValue, and writes nothing, where they do not follow the end of the log.
        """
        # All are checked before the first is written: a log never has half of what a leader sent.
        batches = list(self._following(data))
        is_new_epoch = False
        with self._storage():
            for batch in batches:
                self._room_for(batch)
                self._segments[-1].append(batch)
                epoch, offset = batch.partition_leader_epoch, batch.base_offset
                is_new_epoch = self._epochs.assign(epoch, offset) or is_new_epoch
            # Only when the epoch's first batch is on the disk: an epoch that is noted has records.
            if is_new_epoch:
                self._segments[-1].flush()
                self._write_epochs()
        return self.end_offset

    def flush(self) -> None:
        """Return when everything appended is on the disk: only then may it be acknowledged."""
        with self._storage():
            self._segments[-1].flush()

    def read(self, offset: int, max_bytes: int, end: int | None = None) -> bytes:
        """Return whole batches from the one that holds `offset`, as they lie on the disk.

        At least one, then as many as fit into `max_bytes`, all of them before `end`. Raises
        InvalidValue for an offset that is not in the log.
        """
        if not self._start <= offset <= self.end_offset:
            span = f"{self._start} to {self.end_offset}"
            raise InvalidValue(f"offset {offset} is not in the log, which has {span}")
        end = self.end_offset if end is None else end
        parts: list[bytes] = []
        size = 0
        for batch in self.batches(offset, min(max(max_bytes, _LEAST_READ), CHUNK)):
            size += batch.size
            if batch.last_offset >= end or (parts and size > max_bytes):
                break
            parts.append(batch.data)
        return b"".join(parts)

    def batches(self, offset: int, at_once: int = CHUNK) -> Iterator[RecordBatch]:
        """Yield every batch from the one that holds `offset` on; at_once: bytes read at once."""
        with self._storage():
            for segment in self._segments:
                if segment.next_offset > offset:
                    for _, batch in segment.batches(offset, at_once):
                        yield batch

    def place(self, offset: int) -> tuple[Path, int]:
        """Return the segment of a record, and where in it the record's batch begins."""
        holder = next(s for s in reversed(self._segments) if s.base_offset <= offset)
        return holder.path, holder.position(offset)

    def truncate_to(self, offset: int) -> None:
        """Drop the batch that holds `offset` and all after it, flushed.

        Raises InvalidValue below the start of the log.
        """
        if offset < self._start:
            raise InvalidValue(f"cannot truncate to {offset}: the log begins at {self._start}")
        with self._storage():
            # Epochs that are noted have records, also after a crash in between.
            if self._epochs.truncate_from_end(offset):
                self._write_epochs()
            # From the end: a crash in between leaves a log without a gap.
            while len(self._segments) > 1 and self._segments[-1].base_offset >= offset:
                self._segments.pop().remove()
            if offset < self.end_offset:
                self._segments[-1].truncate(offset)
            if self._epochs.truncate_from_end(self.end_offset):
                self._write_epochs()

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """Return the end of `epoch` or of the last before it (Java: RaftLog.endOffsetForEpoch)."""
        epoch_end = self._epochs.end_offset(epoch, self.end_offset)
        if epoch_end is None:
            return OffsetAndEpoch(offset=self.end_offset, epoch=self.last_fetched_epoch)
        earliest = self._snapshots[0] if self._snapshots else None
        # The log has no records of this epoch any more: they are in the earliest snapshot, whose id
        # names the last epoch there.
        if earliest and epoch_end == OffsetAndEpoch(offset=earliest.offset, epoch=epoch):
            return earliest
        return epoch_end

    def has_snapshot(self, snapshot: OffsetAndEpoch) -> bool:
        """True if there is a complete snapshot of this id."""
        return snapshot in self._snapshots

    def read_snapshot(self, snapshot: OffsetAndEpoch, position: int, size: int) -> bytes:
        """Return a slice of a snapshot's file, for FetchSnapshot."""
        with self._storage():
            file = self._fs.open(self.folder / snapshot_name(snapshot))
            try:
                return file.read(position, size)
            finally:
                file.close()

    def snapshot_size(self, snapshot: OffsetAndEpoch) -> int:
        """Return the size of a snapshot's file in bytes."""
        with self._storage():
            file = self._fs.open(self.folder / snapshot_name(snapshot))
            try:
                return file.size()
            finally:
                file.close()

    def begin_snapshot(self, snapshot: OffsetAndEpoch) -> SnapshotFile:
        """Begin to write or download a snapshot; `add_snapshot` once it is frozen."""
        with self._storage():
            return SnapshotFile(self.folder, snapshot, self._fs)

    def add_snapshot(self, snapshot: OffsetAndEpoch, *, is_checked: bool = False) -> None:
        """Add a frozen snapshot; remove it again if it ends before the log's start.

        is_checked: `check_snapshot` has read it. Else FileError where it is broken, which no
        follower should get.
        """
        # A broken snapshot would be sent to every follower that asks for it.
        if not is_checked:
            load_snapshot(self.folder, snapshot, self._fs)
        if snapshot not in self._snapshots:
            self._snapshots = sorted([*self._snapshots, snapshot])
        with self._storage():
            self._forget_snapshots(before=self._start)

    def truncate_to_latest_snapshot(self) -> bool:
        """Let the log begin empty after the latest snapshot if that is ahead.

        Return True if it was.
        """
        latest = self._snapshots[-1] if self._snapshots else None
        end = self._segments[-1].next_offset if self._segments else 0
        epoch = self._epochs.latest or 0
        # Both epoch and offset count: a longer log of an older epoch is not ahead of the snapshot.
        if not latest or (latest.epoch, latest.offset) <= (epoch, end) or latest.epoch < epoch:
            return False
        with self._storage():
            self._epochs.truncate_from_end(0)
            self._write_epochs()
            while self._segments:
                self._segments.pop().remove()
            self._start = latest.offset
            self._add_segment(latest.offset)
            self._forget_snapshots(before=latest.offset)
        return True

    def delete_before(self, snapshot: OffsetAndEpoch) -> bool:
        """Let the log begin at a snapshot: remove whole segments and snapshots before it."""
        if snapshot not in self._snapshots or snapshot.offset <= self._start:
            return False
        with self._storage():
            self._start = min(snapshot.offset, self.end_offset)
            # The last segment stays, even if all of it is in the snapshot: appends go there.
            while len(self._segments) > 1 and self._segments[0].next_offset <= self._start:
                self._segments.pop(0).remove()
            if self._epochs.truncate_from_start(self._start):
                self._write_epochs()
            self._forget_snapshots(before=self._start)
        return True

    def clean(self, *, max_bytes: int | None = None, older_than: int | None = None) -> bool:
        """Let the log begin at the second oldest snapshot, repeatedly while a limit is exceeded.

        max_bytes: log and snapshots are larger (metadata.max.retention.bytes).
        older_than: the last record that the oldest snapshot contains is from before that time, in
        milliseconds since 1970 (metadata.max.retention.ms). The latest snapshot always stays.
        """
        cleaned = False
        while len(self._snapshots) > 1 and self._too_much(max_bytes, older_than):
            if not self.delete_before(self._snapshots[1]):
                break
            cleaned = True
        return cleaned

    def close(self) -> None:
        """Flush, write the indexes and give the files back; a second time nothing happens."""
        if self._closed:
            return
        self._closed = True
        try:
            with self._storage():
                self._segments[-1].flush()
                self._segments[-1].write_indexes()
        finally:
            self._close_files()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @contextmanager
    def _storage(self) -> Iterator[None]:
        if self._failure is not None:
            raise StorageFailed(f"{self.folder} failed before: {self._failure}")
        try:
            yield
        except OSError as error:
            self._failure = error
            reason = f"{self.folder}: {error}; open the log again once the disk is well"
            raise StorageFailed(reason) from error

    def _following(self, data: bytes) -> Iterator[RecordBatch]:
        end, epoch, size = self.end_offset, self.last_fetched_epoch, 0
        for batch in read_batches(data):
            if not isinstance(batch, RecordBatch):
                raise InvalidValue(f"format {batch.magic} is not of a metadata log")
            if batch.base_offset != end or batch.partition_leader_epoch < epoch:
                position = f"offset {batch.base_offset}, epoch {batch.partition_leader_epoch}"
                raise InvalidValue(f"{position} does not follow offset {end - 1}, epoch {epoch}")
            end, epoch = batch.last_offset + 1, batch.partition_leader_epoch
            size += batch.size
            yield batch
        if size != len(data) or not size:
            raise InvalidValue(f"{len(data) - size} of {len(data)} bytes are no whole batch")

    def _room_for(self, batch: RecordBatch) -> None:
        active = self._segments[-1]
        full = batch.size > self._config.segment_bytes - active.size
        first = active.first_timestamp
        old = first is not None and batch.max_timestamp - first > self._config.segment_ms
        if active.size and (full or old):
            # Flushed before the next segment exists, so that recovery may trust all but the last
            # one.
            active.flush()
            active.write_indexes()
            self._add_segment(active.next_offset)

    def _add_segment(self, base_offset: int) -> None:
        self._segments.append(Segment(self._fs, self.folder, base_offset))
        self._fs.flush_folder(self.folder)

    def _forget_snapshots(self, *, before: int) -> None:
        for snapshot in [id for id in self._snapshots if id.offset < before]:
            self._snapshots.remove(snapshot)
            self._fs.remove(self.folder / snapshot_name(snapshot))

    def _write_small_files(self) -> None:
        partition = self.folder / PARTITION_METADATA
        if not self._fs.exists(partition):
            self._fs.replace_file(partition, partition_metadata())
        epochs = self.folder / LEADER_EPOCH_CHECKPOINT
        if not self._fs.exists(epochs) or self._fs.read_file(epochs) != self._epochs.encode():
            self._write_epochs()
        for segment in self._segments[:-1]:
            segment.write_indexes()

    def _write_epochs(self) -> None:
        self._fs.replace_file(self.folder / LEADER_EPOCH_CHECKPOINT, self._epochs.encode())

    def _too_much(self, max_bytes: int | None, older_than: int | None) -> bool:
        total = self.size + sum(map(self.snapshot_size, self._snapshots))
        if max_bytes is not None and total > max_bytes:
            return True
        if older_than is None:
            return False
        oldest = load_snapshot(self.folder, self._snapshots[0], self._fs)
        return oldest.last_contained_log_timestamp < older_than

    def _close_files(self) -> None:
        for segment in self._segments:
            segment.close()
