"""The batches of a metadata log from its beginning, or from a checkpoint, on; only read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from kwire.batches import RecordBatch
from kwire.errors import FileError, InvalidValue
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.names import (
    BOOTSTRAP_SNAPSHOT,
    METADATA_FOLDER,
    OffsetAndEpoch,
    segment_name,
    segment_offset,
    snapshot_id,
)
from kwire.logdir.segment import record_batches_in


class StoredBatch(NamedTuple):
    """A batch and where it lies."""

    file: Path
    position: int
    batch: RecordBatch


@dataclass(slots=True, kw_only=True)
class StoredLog:
    """A folder of a log.

    start: the checkpoint that stands for what is before the log, or None. is_formatted: it has the
    checkpoint that formatting wrote. torn: bytes at the end that are no whole batch, once `batches`
    has come there.
    """

    folder: Path
    start: OffsetAndEpoch | None
    segments: tuple[int, ...]
    is_formatted: bool
    fs: FileSystem = DISK
    torn: int = 0

    def batches(self) -> Iterator[StoredBatch]:
        """Yield the batches after the checkpoint; one that is cut off at the end ends them.

        Raises FileError where one is broken or missing.
        """
        following = self.start.offset if self.start else 0
        for base, after in pairwise((*self.segments, None)):
            if base is None or (after is not None and after <= following):
                continue
            for stored in self._segment(self.folder / segment_name(base)):
                batch = stored.batch
                if batch.last_offset < following:
                    continue
                if batch.base_offset > following:
                    reason = f"offsets {following} to {batch.base_offset - 1} are missing before it"
                    raise FileError(reason, file=stored.file, offset=stored.position)
                following = batch.last_offset + 1
                yield stored

    def _segment(self, path: Path) -> Iterator[StoredBatch]:
        file, end = self.fs.open(path), 0
        try:
            for position, batch in record_batches_in(file, path):
                yield StoredBatch(path, position, batch)
                end = position + batch.size
            self.torn = file.size() - end
        finally:
            file.close()


def open_log(path: Path, fs: FileSystem = DISK) -> StoredLog:
    """Return the log of `__cluster_metadata-0`, or of the log directory that has it.

    It begins where the segments begin; if that is not at 0, with the first checkpoint there.
    Raises InvalidValue for a folder without a log, FileError for a log that begins with nothing.
    """
    folder = path / METADATA_FOLDER if METADATA_FOLDER in fs.names(path) else path
    names = fs.names(folder)
    segments = sorted(base for name in names if (base := segment_offset(name)) is not None)
    ids = sorted(id for name in names if (id := snapshot_id(name)) is not None)
    if not segments and not ids:
        raise InvalidValue(f"{path} has no metadata log: give the folder {METADATA_FOLDER}")
    first = segments[0] if segments else ids[0].offset
    usable = [id for id in ids if id.offset >= max(first, 1)]
    if first and not usable:
        raise FileError(
            f"the log begins at {first} without a checkpoint: copy the .checkpoint files, too",
            file=folder / segment_name(first),
        )
    return StoredLog(
        folder=folder,
        start=usable[0] if first else None,
        segments=tuple(segments),
        is_formatted=BOOTSTRAP_SNAPSHOT in ids,
        fs=fs,
    )
