"""The metadata that files hold: a checkpoint, or the folder of a metadata log (KIP-595, KIP-630).

Nothing is written, so that the folder of a running node can be read, too. A log does not say how
far it is committed: the image of a folder is that of its last whole batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kwire.batches import Batch, RecordBatch
from kwire.batches.control_records import read_control_record
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.errors import FileError, InvalidValue, WireError
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.meta_properties import read_meta_properties
from kwire.logdir.names import (
    METADATA_FOLDER,
    SNAPSHOT_SUFFIX,
    OffsetAndEpoch,
    segment_name,
    segment_offset,
    snapshot_id,
)
from kwire.logdir.segment import batches_in
from kwire.logdir.snapshots import load_snapshot, snapshot_content
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMetadata:
    """An image at an offset. cluster_id: of the meta.properties beside the files, if it is there.

    kraft_version: its feature level, which is not in the image but in control records (KIP-853).
    """

    image: MetadataImage
    offset: int
    kraft_version: int = 0
    cluster_id: str | None = None


def is_checkpoint(path: Path) -> bool:
    """True for the name of a snapshot, of bootstrap.checkpoint, or of a copy of either."""
    return path.suffix == SNAPSHOT_SUFFIX


def read_checkpoint(path: Path, fs: FileSystem = DISK) -> StoredMetadata:
    """Return the metadata of one snapshot. Raises FileError where it is broken."""
    content = snapshot_content(fs.read_file(path), path)
    id = snapshot_id(path.name)
    folder = path.absolute().parent
    return StoredMetadata(
        image=_image(content.records, path),
        offset=0 if id is None else id.offset,
        kraft_version=content.kraft_version,
        cluster_id=_cluster_id(folder, fs) or _cluster_id(folder.parent, fs),
    )


def read_metadata_folder(path: Path, fs: FileSystem = DISK) -> StoredMetadata:
    """Return the metadata of `__cluster_metadata-0`, or of the log directory that has it.

    1. Load the latest snapshot.
    2. Apply the batches after it; a batch that is cut off at the end of the log ends it.

    Raises InvalidValue for a folder without a metadata log, FileError for one that is broken, or
    that begins after its latest snapshot.
    """
    folder = path / METADATA_FOLDER if METADATA_FOLDER in fs.names(path) else path
    names = fs.names(folder)
    bases = [base for name in names if (base := segment_offset(name)) is not None]
    snapshots = [id for name in names if (id := snapshot_id(name)) is not None]
    if not bases and not snapshots:
        raise InvalidValue(f"{path} has no metadata log: give the folder {METADATA_FOLDER}")
    # 1.
    start = max(snapshots, default=OffsetAndEpoch(offset=0, epoch=0))
    reader = _LogReader(folder, start, fs)
    # 2.
    reader.follow(sorted(bases))
    return StoredMetadata(
        image=reader.image.published,
        offset=reader.offset,
        kraft_version=reader.kraft_version,
        cluster_id=_cluster_id(folder.absolute().parent, fs),
    )


class _LogReader:
    """Reads segments one after the other into an image."""

    def __init__(self, folder: Path, start: OffsetAndEpoch, fs: FileSystem) -> None:
        self._folder, self._fs = folder, fs
        self.image = EMPTY
        self.offset = start.offset
        self.kraft_version = 0
        if start.offset or start.epoch:
            content = load_snapshot(folder, start, fs)
            self.image = _image(content.records, folder)
            self.kraft_version = content.kraft_version

    def follow(self, bases: list[int]) -> None:
        """Apply what the segments say after the snapshot."""
        for base, following in zip(bases, [*bases[1:], None], strict=True):
            if following is None or following > self.offset:
                path = self._folder / segment_name(base)
                for position, batch in self._batches(path):
                    self._take(batch, path, position)

    def _batches(self, path: Path) -> Iterator[tuple[int, Batch]]:
        file = self._fs.open(path)
        try:
            yield from batches_in(file, path)
        finally:
            file.close()

    def _take(self, batch: Batch, path: Path, position: int) -> None:
        if not isinstance(batch, RecordBatch):
            raise FileError("a batch of an old format", file=path, offset=position)
        if batch.last_offset < self.offset:
            return
        if batch.base_offset > self.offset:
            reason = f"offsets {self.offset} to {batch.base_offset - 1} are missing before it"
            raise FileError(reason, file=path, offset=position)
        values = (record.value or b"" for record in batch.records())
        try:
            if batch.is_control:
                self._take_control(batch)
            else:
                self.image = apply_all(self.image, map(read_metadata_record, values))
        except WireError as error:
            raise FileError(str(error), file=path, offset=position) from error
        self.offset = batch.last_offset + 1

    def _take_control(self, batch: RecordBatch) -> None:
        for record in batch.records():
            message = read_control_record(record).message
            if isinstance(message, KRaftVersionRecord):
                self.kraft_version = message.k_raft_version


def _image(records: Iterable[VersionedRecord], file: Path) -> MetadataImage:
    try:
        return apply_all(EMPTY, records)
    except WireError as error:
        raise FileError(str(error), file=file) from error


def _cluster_id(folder: Path, fs: FileSystem) -> str | None:
    properties = read_meta_properties(folder, fs)
    return None if properties is None else properties.cluster_id
