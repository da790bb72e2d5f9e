"""Snapshots of the metadata log (KIP-630): what it says up to an offset, in one file of batches.

First a control batch: header and, from KIP-853 on, kraft.version and voters. Then the records, then
a control batch with the footer, without which the file is not complete. Offsets count from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kwire.batches import Batch, Record, RecordBatch, build_batch, read_batch
from kwire.batches.control_records import (
    ControlRecord,
    ControlRecordType,
    QuorumMessage,
    quorum_record,
    read_control_record,
)
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.errors import BatchError, DecodeError, FileError
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.names import OffsetAndEpoch, snapshot_name
from kwire.logdir.segment import batches_in
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord
from kwire.messages.data.snapshot_footer_record import SnapshotFooterRecord
from kwire.messages.data.snapshot_header_record import SnapshotHeaderRecord
from kwire.messages.data.voters_record import VotersRecord

RECORDS_PER_BATCH = 1024
"""As many as Kafka's snapshot writer puts into a batch."""


def build_snapshot(
    records: Iterable[VersionedRecord],
    *,
    epoch: int,
    now: int,
    last_contained_log_timestamp: int = 0,
    kraft_version: int = 0,
    voters: VotersRecord | None = None,
) -> Iterator[bytes]:
    """Yield the batches of a snapshot file, one after the other.

    epoch: that of the snapshot's id; now: milliseconds since 1970.
    """
    head: list[QuorumMessage] = [
        SnapshotHeaderRecord(last_contained_log_timestamp=last_contained_log_timestamp)
    ]
    if kraft_version > 0:
        head.append(KRaftVersionRecord(k_raft_version=kraft_version))
        if voters is not None:
            head.append(voters)
    offset = 0

    def batch(records: list[Record], control: bool) -> bytes:
        nonlocal offset
        data = build_batch(
            records, base_offset=offset, partition_leader_epoch=epoch, is_control=control
        )
        offset += len(records)
        return data

    yield batch([quorum_record(message, timestamp=now) for message in head], control=True)
    rest = iter(records)
    while group := list(islice(rest, RECORDS_PER_BATCH)):
        values = (record.encode() for record in group)
        yield batch([Record(value=value, timestamp=now) for value in values], control=False)
    yield batch([quorum_record(SnapshotFooterRecord(), timestamp=now)], control=True)


def _is(content: ControlRecord | VersionedRecord | None, type: ControlRecordType) -> bool:
    return isinstance(content, ControlRecord) and content.type == type


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotContent:
    """A snapshot taken apart."""

    last_contained_log_timestamp: int
    kraft_version: int
    voters: VotersRecord | None
    records: tuple[VersionedRecord, ...]


def load_snapshot(folder: Path, snapshot: OffsetAndEpoch, fs: FileSystem = DISK) -> SnapshotContent:
    """Return all of a snapshot in a metadata folder.

    Raises FileError if it is broken or not complete.
    """
    path = folder / snapshot_name(snapshot)
    return snapshot_content(fs.read_file(path), path)


def snapshot_content(data: bytes, file: Path) -> SnapshotContent:
    """Return all of a snapshot, or of bootstrap.checkpoint, which has no voters."""
    records = list(_contents(_batches(data), len(data), file))
    messages = {
        type(record.message): record.message
        for record in records
        if isinstance(record, ControlRecord)
    }
    header, version = messages.get(SnapshotHeaderRecord), messages.get(KRaftVersionRecord)
    voters = messages.get(VotersRecord)
    if not isinstance(header, SnapshotHeaderRecord):
        raise FileError("the version of the snapshot's header is not known", file=file)
    return SnapshotContent(
        last_contained_log_timestamp=header.last_contained_log_timestamp,
        kraft_version=version.k_raft_version if isinstance(version, KRaftVersionRecord) else 0,
        voters=voters if isinstance(voters, VotersRecord) else None,
        records=tuple(record for record in records if isinstance(record, VersionedRecord)),
    )


def iter_snapshot(
    folder: Path, snapshot: OffsetAndEpoch, fs: FileSystem = DISK
) -> Iterator[VersionedRecord]:
    """Read the metadata records of a snapshot one after the other, its file in pieces.

    Raises FileError where it is broken, or at its end where it is not complete.
    """
    for content in _iter_contents(folder / snapshot_name(snapshot), fs):
        if isinstance(content, VersionedRecord):
            yield content


def place_in_snapshot(
    folder: Path, snapshot: OffsetAndEpoch, number: int, fs: FileSystem = DISK
) -> tuple[Path, int]:
    """Return the file, and where the batch begins that has the metadata record of this number.

    The first one is 1.
    """
    path = folder / snapshot_name(snapshot)
    file = fs.open(path)
    try:
        for position, batch in batches_in(file, path):
            if isinstance(batch, RecordBatch) and not batch.is_control:
                number -= batch.count
                if number <= 0:
                    return path, position
        return path, file.size()
    finally:
        file.close()


def check_snapshot(folder: Path, snapshot: OffsetAndEpoch, fs: FileSystem = DISK) -> None:
    """Raise FileError unless all batches of a snapshot are whole, from its header to its footer.

    They carry the epoch of its name. Metadata records are not decoded: the CRC of their batches
    says that they are what was written.
    """
    path = folder / snapshot_name(snapshot)
    for _ in _iter_contents(path, fs, only_control=True, epoch=snapshot.epoch):
        pass


def _batches(data: bytes) -> Iterator[tuple[int, Batch]]:
    position = 0
    while (batch := read_batch(data, position)) is not None:
        yield position, batch
        position += batch.size


def _iter_contents(
    path: Path, fs: FileSystem, *, only_control: bool = False, epoch: int | None = None
) -> Iterator[ControlRecord | VersionedRecord]:
    file = fs.open(path)
    try:
        batches = batches_in(file, path)
        yield from _contents(batches, file.size(), path, only_control=only_control, epoch=epoch)
    finally:
        file.close()


def _contents(
    batches: Iterable[tuple[int, Batch]],
    size: int,
    path: Path,
    *,
    only_control: bool = False,
    epoch: int | None = None,
) -> Iterator[ControlRecord | VersionedRecord]:
    """Yield all that a snapshot says. FileError where it is broken, or ends without a footer."""
    content: ControlRecord | VersionedRecord | None = None
    position, offset = 0, 0
    try:
        for position, found in batches:
            batch = _next(found, offset, content, epoch)
            # Only a footer may be last: with only_control nothing else tells of a data batch.
            content = None
            for record in batch.records() if batch.is_control or not only_control else ():
                content = _read(batch, record)
                if not offset and not _is(content, ControlRecordType.SNAPSHOT_HEADER):
                    raise BatchError("does not begin with a snapshot's header")
                yield content
                offset += 1
            position, offset = position + batch.size, batch.last_offset + 1
    except (BatchError, DecodeError) as error:
        raise FileError(error.reason, file=path, offset=position) from None
    if position != size or not _is(content, ControlRecordType.SNAPSHOT_FOOTER):
        raise FileError("the snapshot ends without its footer", file=path, offset=position)


def _next(
    batch: Batch, offset: int, before: ControlRecord | VersionedRecord | None, epoch: int | None
) -> RecordBatch:
    """Return a batch; raise BatchError if it cannot be the next one of a snapshot."""
    if _is(before, ControlRecordType.SNAPSHOT_FOOTER):
        raise BatchError("more follows the snapshot's footer")
    if not isinstance(batch, RecordBatch):
        raise BatchError(f"format {batch.magic} is not of a snapshot")
    if not offset and not batch.is_control:
        raise BatchError("does not begin with a snapshot's header")
    if batch.base_offset != offset:
        raise BatchError(f"offset {batch.base_offset} where {offset} should be")
    if epoch not in (None, batch.partition_leader_epoch):
        found = batch.partition_leader_epoch
        raise BatchError(f"is a snapshot of epoch {found}, its name says {epoch}")
    return batch


def _read(batch: Batch, record: Record) -> ControlRecord | VersionedRecord:
    if batch.is_control:
        return read_control_record(record)
    return read_metadata_record(record.value or b"")


class SnapshotFile:
    """A snapshot that is being written or downloaded; it counts from `freeze` on."""

    def __init__(self, folder: Path, snapshot: OffsetAndEpoch, fs: FileSystem = DISK) -> None:
        self.snapshot = snapshot
        self._path = folder / snapshot_name(snapshot)
        self._part = self._path.with_name(f"{self._path.name}.part")
        self._fs = fs
        fs.make_folder(folder)
        fs.remove(self._part)
        self._file = fs.open(self._part, write=True)

    @property
    def size(self) -> int:
        """Bytes so far: where the next slice of a download has to begin (FetchSnapshot)."""
        return self._file.size()

    def append(self, data: bytes) -> None:
        """Write more; a slice need not end with a batch."""
        self._file.append(data)

    def freeze(self) -> None:
        """Make it the snapshot: flushed, read-only, under its name."""
        # In this order, so that a file with a snapshot's name is always whole: bytes, then the
        # name, then the folder. Until then it is NAME.part, which opening the log removes.
        self._file.flush()
        self._file.close()
        self._fs.protect(self._part)
        self._fs.rename(self._part, self._path)
        self._fs.flush_folder(self._path.parent)

    def discard(self) -> None:
        """Remove the unfinished snapshot."""
        self._file.close()
        self._fs.remove(self._part)


def write_snapshot(
    folder: Path, snapshot: OffsetAndEpoch, batches: Iterable[bytes], fs: FileSystem = DISK
) -> None:
    """Write the batches of `build_snapshot`; nothing is left where that fails."""
    file = SnapshotFile(folder, snapshot, fs)
    try:
        for batch in batches:
            file.append(batch)
    except BaseException:
        file.discard()
        raise
    file.freeze()
