"""One segment of the metadata log: a file of batches, and the index and epochs found in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kwire.batches import Batch, RecordBatch, read_batch
from kwire.batches.control_records import read_control_record
from kwire.errors import BatchError, FileError, WireError
from kwire.logdir.filesystem import FileSystem, OpenFile
from kwire.logdir.indexes import SegmentIndex
from kwire.logdir.names import (
    OFFSET_INDEX_SUFFIX,
    PRODUCER_SNAPSHOT_SUFFIX,
    TIME_INDEX_SUFFIX,
    segment_name,
)

CHUNK = 1024 * 1024
"""Bytes that are read at once; a batch that is larger is read whole."""

SEARCHED = 16 * 1024 * 1024
"""Bytes after a broken batch in which whole ones are looked for: twice Kafka's largest batch."""

_FORMAT = "format {} is not of a metadata log"


@dataclass(frozen=True, slots=True, kw_only=True)
class TornTail:
    """The end of a segment that a crash left half written, and that is cut off."""

    file: Path
    position: int
    size: int
    reason: str


def batches_in(
    file: OpenFile,
    path: Path,
    position: int = 0,
    *,
    check_crc: bool = True,
    at_once: int = CHUNK,
) -> Iterator[tuple[int, Batch]]:
    """Yield whole batches with their positions, up to the first that is cut off.

    at_once: bytes to read at once. Raises FileError where a batch is broken.
    """
    chunk, start = b"", position
    while True:
        try:
            batch = read_batch(chunk, position - start, check_crc=check_crc)
        except BatchError as error:
            raise FileError(error.reason, file=path, offset=position) from None
        if batch is not None:
            yield position, batch
            position += batch.size
            continue
        known = len(chunk) - (position - start)
        more = file.read(position, max(at_once, 2 * known))
        # No more than was there before: the file ends inside this batch, or at its end.
        if len(more) <= known:
            return
        chunk, start = more, position


def record_batches_in(file: OpenFile, path: Path) -> Iterator[tuple[int, RecordBatch]]:
    """Yield the whole batches of a segment that a node may be writing.

    Raises FileError where one is broken, or of a format that no metadata log has.
    """
    for position, batch in batches_in(file, path):
        if not isinstance(batch, RecordBatch):
            raise FileError(_FORMAT.format(batch.magic), file=path, offset=position)
        yield position, batch


class Segment:
    """A segment that is read, and at whose end batches are appended."""

    def __init__(
        self, fs: FileSystem, folder: Path, base_offset: int, *, write: bool = True
    ) -> None:
        self.base_offset = base_offset
        self.path = folder / segment_name(base_offset)
        self.size = 0
        self.next_offset = base_offset
        self.first_timestamp: int | None = None
        self.last_timestamp = -1
        self.epochs: list[tuple[int, int]] = []
        self.index = SegmentIndex(base_offset)
        self._fs = fs
        self._file = fs.open(self.path, write=write)

    def recover(self, *, last: bool) -> TornTail | None:
        """Read and check everything; return the half-written end of the last segment.

        Raises FileError for what no crash explains: a broken batch with whole ones after it, or in
        an earlier segment, an offset that does not follow, an epoch that goes back, a control
        record that cannot be read.
        """
        end = self._file.size()
        reason = "the batch is cut off"
        try:
            for position, batch in batches_in(self._file, self.path):
                self.note(self._follows(batch, position))
        except FileError as error:
            # A torn write ends the sound batches. Damage elsewhere, or a sound batch at the wrong
            # place, is not what a crash leaves: the file stays as it is.
            if error.offset != self.size or isinstance(error, MisplacedBatch):
                raise
            reason = error.reason
        if self.size == end:
            return None
        # Kafka truncates at the first broken batch wherever it is, and with it committed batches
        # that still lie after it. Here only an end without whole batches after it counts as torn.
        if not last or self._whole_batch_behind(self.size):
            note = "" if not last else "; whole batches follow"
            raise FileError(f"{reason}{note}", file=self.path, offset=self.size)
        return TornTail(file=self.path, position=self.size, size=end - self.size, reason=reason)

    def cut_torn_tail(self) -> None:
        """Cut off what `recover` has returned."""
        # Flushed before anything is appended: else a second crash could bring the torn bytes back
        # after new ones.
        self._file.truncate(self.size)
        self._file.flush()

    def position(self, offset: int) -> int:
        """Return where the batch begins that holds `offset`; the end if no batch does."""
        return next((position for position, _ in self.batches(offset)), self.size)

    def note(self, batch: RecordBatch) -> None:
        """Update offsets and indexes for a batch at the end."""
        self.index.add(batch.last_offset, batch.max_timestamp, self.size, batch.size)
        if self.first_timestamp is None:
            self.first_timestamp = batch.max_timestamp
        self.last_timestamp = max(self.last_timestamp, batch.max_timestamp)
        if not self.epochs or self.epochs[-1][0] != batch.partition_leader_epoch:
            self.epochs.append((batch.partition_leader_epoch, batch.base_offset))
        self.size += batch.size
        self.next_offset = batch.last_offset + 1

    def append(self, batch: RecordBatch) -> None:
        """Write a batch at the end, unflushed."""
        self._file.append(batch.data)
        self.note(batch)

    def batches(self, offset: int, at_once: int = CHUNK) -> Iterator[tuple[int, RecordBatch]]:
        """Yield batches with their positions, from the one that holds `offset` on."""
        start = self.index.position(offset)
        for position, batch in batches_in(self._file, self.path, start, at_once=at_once):
            assert isinstance(batch, RecordBatch), "recovery let no other in"
            if batch.last_offset >= offset:
                yield position, batch

    def read(self, position: int, size: int) -> bytes:
        """Return the bytes as they lie in the file."""
        return self._file.read(position, size)

    def truncate(self, offset: int) -> None:
        """Drop the batch that holds `offset` and all after it, flushed."""
        position = self.position(offset)
        # The indexes go first: they never know of more than the segment has, unless it lost it.
        self._remove_indexes()
        self._fs.flush_folder(self.path.parent)
        self._file.truncate(position)
        self._file.flush()
        # Read again from the start: index and epochs cannot be taken back batch by batch.
        self.size, self.next_offset, self.first_timestamp = 0, self.base_offset, None
        self.last_timestamp, self.epochs = -1, []
        self.index = SegmentIndex(self.base_offset)
        self.recover(last=True)

    def flush(self) -> None:
        """Return when all of it is on the disk."""
        self._file.flush()

    def write_indexes(self) -> None:
        """Write the index files; the segment gets no more batches before it is read again."""
        self.index.complete()
        for suffix, data in (
            (OFFSET_INDEX_SUFFIX, self.index.encode_offsets()),
            (TIME_INDEX_SUFFIX, self.index.encode_times()),
        ):
            path = self.path.with_suffix(suffix)
            if not self._fs.exists(path) or self._fs.read_file(path) != data:
                self._fs.replace_file(path, data)

    def remove(self) -> None:
        """Close and remove the files."""
        self.close()
        # The log file goes last: a crash before leaves a segment whose indexes are written again.
        self._remove_indexes()
        self._fs.remove(self.path.with_suffix(PRODUCER_SNAPSHOT_SUFFIX))
        self._fs.remove(self.path)
        self._fs.flush_folder(self.path.parent)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _remove_indexes(self) -> None:
        for suffix in (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX):
            self._fs.remove(self.path.with_suffix(suffix))

    def _follows(self, batch: Batch, position: int) -> RecordBatch:
        reason = ""
        if not isinstance(batch, RecordBatch):
            reason = _FORMAT.format(batch.magic)
        elif batch.base_offset != self.next_offset:
            reason = f"offset {batch.base_offset} where {self.next_offset} should be"
        elif self.epochs and batch.partition_leader_epoch < self.epochs[-1][0]:
            reason = f"epoch {batch.partition_leader_epoch} after {self.epochs[-1][0]}"
        else:
            reason = _unreadable_control_record(batch)
        if isinstance(batch, RecordBatch) and not reason:
            return batch
        raise MisplacedBatch(reason, file=self.path, offset=position)

    def _whole_batch_behind(self, position: int) -> bool:
        """True if a batch of later offsets with the right CRC begins after a broken one."""
        rest = self._file.read(position, SEARCHED)
        # The magic byte of a batch is its 17th: every 2 may be one, and the CRC tells. The search
        # begins after the magic of the broken batch itself.
        magic = rest.find(2, 17)
        while magic >= 0:
            with_batch = _batch_at(rest, magic - 16)
            if with_batch is not None and with_batch.base_offset > self.next_offset:
                return True
            magic = rest.find(2, magic + 1)
        return False


class MisplacedBatch(FileError):
    """A sound batch that does not belong where it lies: no crash does that."""


def _unreadable_control_record(batch: RecordBatch) -> str:
    """Return why the replica cannot act on a control record, "" if it can or need not."""
    try:
        for record in batch.records() if batch.is_control else ():
            read_control_record(record)
    except WireError as error:
        return f"a control record of the batch at offset {batch.base_offset}: {error}"
    return ""


def _batch_at(data: bytes, position: int) -> RecordBatch | None:
    try:
        batch = read_batch(memoryview(data), position)
    except BatchError:
        return None
    return batch if isinstance(batch, RecordBatch) else None
