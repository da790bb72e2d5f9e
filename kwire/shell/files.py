"""Images from files: a folder of a metadata log, or one checkpoint or segment of it.

Everything is only read: the folder may be that of a running node. Kafka's shell takes one file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from kwire.batches import RecordBatch
from kwire.batches.metadata_records import read_metadata_record
from kwire.errors import BatchError, DecodeError, FileError, InvalidValue
from kwire.image import EMPTY, MetadataImage, ReplayError, apply_all
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.names import (
    BOOTSTRAP_CHECKPOINT,
    BOOTSTRAP_SNAPSHOT,
    METADATA_FOLDER,
    SNAPSHOT_SUFFIX,
    OffsetAndEpoch,
    segment_name,
    segment_offset,
    snapshot_id,
    snapshot_name,
)
from kwire.logdir.segment import record_batches_in
from kwire.logdir.snapshots import load_snapshot, snapshot_content
from kwire.observer.raft_state import RaftState
from kwire.shell.position import OffsetNotAvailable, PositionedImage


@dataclass(slots=True)
class _Log:
    """An image that batches of the log are applied to; `next` is the offset of the next one."""

    image: MetadataImage = EMPTY
    next: int = 0
    epoch: int | None = None
    timestamp: int | None = None
    raft: RaftState = RaftState()

    @property
    def position(self) -> PositionedImage:
        return PositionedImage(
            image=self.image.published,
            offset=self.next - 1 if self.next else None,
            epoch=self.epoch,
            timestamp=self.timestamp,
            raft=self.raft,
        )

    def apply(self, batch: RecordBatch, path: Path, position: int) -> None:
        """Apply a batch. Raises FileError, with the place, if it is broken or does not fit."""
        try:
            records = () if batch.is_control else batch.records()
            values = (record.value or b"" for record in records if record.offset >= self.next)
            self.image = apply_all(self.image, map(read_metadata_record, values))
            self.raft = self.raft.after(batch)
        except (BatchError, DecodeError, ReplayError) as error:
            reason = getattr(error, "reason", None) or str(error)
            raise FileError(reason, file=path, offset=position) from None
        self.next, self.epoch = batch.last_offset + 1, batch.partition_leader_epoch
        self.timestamp = batch.max_timestamp


class FileBasedSource(ABC):
    """Images from files that are read once, and again by `reload`."""

    def __init__(self, path: Path, fs: FileSystem = DISK) -> None:
        self._path = path
        self._fs = fs
        self._latest: PositionedImage | None = None

    def __str__(self) -> str:
        return str(self._path)

    def __exit__(self, *exc: object) -> None:
        """Forget what was read; no file is kept open."""
        self._latest = None

    def latest(self) -> PositionedImage:
        """Return the image at the end of the files, as they were when they were read."""
        if self._latest is None:
            self._latest = self.read(None)
        return self._latest

    def reload(self) -> None:
        """Read the files again for the next image."""
        self._latest = None

    def at(self, offset: int) -> PositionedImage:
        """Return the image at an offset.

        Raises OffsetNotAvailable before the first checkpoint of a log that begins later than at 0,
        and behind the end of the log.
        """
        end = self.latest().offset
        first, last = self.first_offset(), -1 if end is None else end
        if not first <= offset <= last:
            raise OffsetNotAvailable(offset, self, first, last)
        return self.read(offset)

    @abstractmethod
    def read(self, last: int | None) -> PositionedImage:
        """Read the files up to the offset `last`, or to their end."""

    @abstractmethod
    def first_offset(self) -> int:
        """Return the first offset of which there is an image."""


class DirectorySource(FileBasedSource):
    """The folder of a metadata log, or the log directory that it lies in.

    The image is the latest checkpoint with the records after it, to the end of the log: a record
    near the end may not be committed yet.
    """

    def __enter__(self) -> Self:
        if not self._fs.is_folder(self._folder):
            raise InvalidValue(f"{self} is no folder: give that of {METADATA_FOLDER}")
        if not self._snapshots() and not self._segments():
            raise InvalidValue(
                f"{self} has no checkpoint and no segment:"
                f" give the folder of {METADATA_FOLDER}, or the log directory that it is in"
            )
        return self

    def first_offset(self) -> int:
        """Return 0, or the end of the first checkpoint where the log begins later."""
        segments, snapshots = self._segments(), self._snapshots()
        if segments and segments[0] == 0:
            return 0
        return max(0, snapshots[0].offset - 1) if snapshots else 0

    def read(self, last: int | None) -> PositionedImage:
        """Read the log up to the offset `last`, or to its end.

        1. Begin with the latest checkpoint that has nothing after `last`.
        2. Apply the batches after it, segment after segment.
        """
        # 1.
        segments = self._segments()
        usable = [id for id in self._snapshots() if last is None or id.offset - 1 <= last]
        log = _Log()
        # What formatting writes into the first checkpoint the first leader writes into the log.
        if usable and segments and usable[-1] == BOOTSTRAP_SNAPSHOT:
            usable, log.raft = [], self._formatting()
        if usable:
            path = self._folder / snapshot_name(usable[-1])
            log = _read_checkpoint(path, usable[-1], self._fs)
            log.raft = self._with_leaders(log.raft, log.next, segments)
        # 2.
        for base, following in zip_longest(segments, segments[1:]):
            if following is None or following > log.next:
                _apply_segment(log, self._folder / segment_name(base), last, self._fs)
        return log.position

    def _with_leaders(self, raft: RaftState, end: int, segments: list[int]) -> RaftState:
        """Add the leaders before a checkpoint, of which the log may still have the records."""
        if not segments or segments[0] >= end:
            return raft
        before = RaftState()
        for base in (base for base in segments if base < end):
            for _, batch in _batches(self._folder / segment_name(base), self._fs):
                if batch.base_offset < end:
                    before = before.after(batch)
        return replace(raft, leader_changes=before.leader_changes, known_from=segments[0])

    def _formatting(self) -> RaftState:
        """Return the voters of formatting, which the log lacks before the first leader."""
        return RaftState.of_snapshot(load_snapshot(self._folder, BOOTSTRAP_SNAPSHOT, self._fs), 0)

    @property
    def _folder(self) -> Path:
        inner = self._path / METADATA_FOLDER
        return inner if self._fs.is_folder(inner) else self._path

    def _segments(self) -> list[int]:
        names = self._fs.names(self._folder)
        return sorted(base for name in names if (base := segment_offset(name)) is not None)

    def _snapshots(self) -> list[OffsetAndEpoch]:
        ids = map(snapshot_id, self._fs.names(self._folder))
        return sorted((id for id in ids if id is not None), key=lambda id: id.offset)


class SingleFileSource(FileBasedSource):
    """One checkpoint, which has the image of one offset, or one segment that begins at 0."""

    def __enter__(self) -> Self:
        if self._fs.is_folder(self._path):
            raise InvalidValue(
                f"{self} is a folder of a log: name it by `kwire shell --directory {self}`"
            )
        return self

    def first_offset(self) -> int:
        """Return the offset of a checkpoint, 0 of a segment."""
        return (self.latest().offset or 0) if self._is_checkpoint else 0

    def read(self, last: int | None) -> PositionedImage:
        """Read the file up to the offset `last`, or to its end."""
        if self._is_checkpoint:
            return _read_checkpoint(self._path, snapshot_id(self._path.name), self._fs).position
        log = _Log()
        _apply_segment(log, self._path, last, self._fs)
        return log.position

    @property
    def _is_checkpoint(self) -> bool:
        return self._path.suffix == SNAPSHOT_SUFFIX


def _read_checkpoint(path: Path, id: OffsetAndEpoch | None, fs: FileSystem) -> _Log:
    content = snapshot_content(fs.read_file(path), path)
    try:
        image = apply_all(EMPTY, content.records)
    except ReplayError as error:
        raise FileError(str(error), file=path) from None
    # The bootstrap file stands for no place in the log, and a renamed one for an unknown place.
    place = None if id is None or path.name == BOOTSTRAP_CHECKPOINT else id
    return _Log(
        image=image,
        next=place.offset if place else 0,
        epoch=place.epoch if place else None,
        timestamp=content.last_contained_log_timestamp,
        raft=RaftState.of_snapshot(content, place.offset if place else 0),
    )


def _apply_segment(log: _Log, path: Path, last: int | None, fs: FileSystem) -> None:
    """Apply the batches of a segment that the log does not have yet, up to the offset `last`."""
    for position, batch in _batches(path, fs):
        if batch.last_offset < log.next:
            continue
        if last is not None and batch.last_offset > last:
            return
        if batch.base_offset > log.next:
            raise FileError(
                f"begins at offset {batch.base_offset}, and the records from {log.next} on are"
                " missing: a checkpoint that ends there is needed",
                file=path,
                offset=position,
            )
        log.apply(batch, path, position)


def _batches(path: Path, fs: FileSystem) -> Iterator[tuple[int, RecordBatch]]:
    """Yield the whole batches of a segment with their places; a node may be writing the next."""
    file = fs.open(path)
    try:
        yield from record_batches_in(file, path)
    finally:
        file.close()
