"""The log and the votes of a replica in a log directory: a raft `Log` on Kafka's own files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import UUID

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.raft import (
    AppendLog,
    ElectionState,
    InstallSnapshot,
    OffsetAndEpoch,
    PersistElection,
    TruncateLog,
    WriteSnapshot,
)
from kwire.controller.server.environment import Environment
from kwire.errors import FileError, StorageFailed
from kwire.logdir import names
from kwire.logdir.bootstrap import read_bootstrap
from kwire.logdir.filesystem import FileSystem
from kwire.logdir.lock import DirectoryLock
from kwire.logdir.log import LogConfig, MetadataLog
from kwire.logdir.meta_properties import (
    MetaProperties,
    add_directory_ids,
    read_meta_properties,
    verify_directories,
)
from kwire.logdir.quorum_state import QuorumState, write_quorum_state
from kwire.logdir.recovery import (
    RecoveredLog,
    begin_folder,
    check_directory_id,
    check_folder,
    check_quorum_state,
)
from kwire.logdir.server_properties import StorageProperties
from kwire.logdir.snapshots import (
    SnapshotFile,
    check_snapshot,
    iter_snapshot,
    place_in_snapshot,
    write_snapshot,
)
from kwire.text.ids import uuid_text

logger = logging.getLogger(__name__)


class DirectoryLog:
    """The metadata directory of a node, formatted beforehand, locked and open for writing.

    bootstrap: the records with which the first leader of the cluster begins. election: the stored
    epoch, leader and vote; None if there is no quorum-state.

    Raises InvalidValue if a directory is not formatted, or formatted for another node; FileError if
    its files contradict each other, since something is lost then (docs/decisions/0094).
    """

    def __init__(
        self,
        storage: StorageProperties,
        *,
        segment_bytes: int = 1 << 30,
        environment: Environment | None = None,
    ) -> None:
        environment = environment or Environment()
        fs = self._fs = environment.filesystem
        folder = storage.metadata_log_dir
        meta = _verified(storage, fs)
        assert meta.cluster_id is not None, "it is verified"
        self.cluster_id: str = meta.cluster_id
        bootstrap = _bootstrap(folder, fs)
        self.bootstrap: tuple[VersionedRecord, ...] = bootstrap or ()
        self._folder: Path = folder / names.METADATA_FOLDER
        self.election: ElectionState | None = None

        def check(log: RecoveredLog) -> None:
            state = check_quorum_state(fs, log)
            check_directory_id(fs, meta, log, state)
            if bootstrap is None and not log.end and not log.last_epoch:
                raise FileError(
                    "is not there, nor any record: restore it, or format an empty directory",
                    file=folder / names.BOOTSTRAP_CHECKPOINT,
                )
            self.election = ElectionState.from_data(state.data) if state else None

        check_folder(fs, folder)
        begin_folder(fs, folder)
        self._lock = DirectoryLock(folder, fs)
        try:
            config = LogConfig(segment_bytes=segment_bytes)
            self._log = MetadataLog.open(self._folder, fs, config, check)
            if torn := self._log.torn:
                logger.warning("%s: %d bytes of a torn write cut off", torn.file, torn.size)
            # A process that was killed left written, unflushed batches in the page cache. They are
            # counted as the log's end from now on, so they have to be on the disk.
            self._log.flush()
            self.directory_id = _directory_id(storage, environment)
        except BaseException:
            self._lock.close()
            raise
        self._parts: dict[OffsetAndEpoch, SnapshotFile] = {}

    @property
    def start_offset(self) -> int:
        """The first offset that can be read."""
        return self._log.start_offset

    @property
    def end(self) -> OffsetAndEpoch:
        """The offset after the last record, and the epoch of that record."""
        return OffsetAndEpoch(offset=self._log.end_offset, epoch=self._log.last_fetched_epoch)

    @property
    def size(self) -> int:
        """The bytes of all segments."""
        return self._log.size

    def end_of_epoch(self, epoch: int) -> OffsetAndEpoch:
        """Return the end offset of the greatest epoch not above `epoch`, and that epoch."""
        return _raft_id(self._log.end_offset_for_epoch(epoch))

    def epoch_of(self, offset: int) -> int:
        """Return the epoch of a record, which may be in a snapshot in place of the log."""
        epochs = [start.epoch for start in self._log.epoch_starts if start.offset <= offset]
        if epochs:
            return epochs[-1]
        return next((id.epoch for id in self._log.snapshots if id.offset > offset), 0)

    def read(self, offset: int, max_bytes: int, end: int | None = None) -> bytes:
        """Return whole batches from the one with `offset` on, none of them at or after `end`."""
        return self._log.read(offset, max_bytes, end)

    def snapshots(self) -> list[OffsetAndEpoch]:
        """Return the ids of complete snapshots, ascending."""
        return [_raft_id(id) for id in self._log.snapshots]

    def snapshot_size(self, id: OffsetAndEpoch) -> int | None:
        """Return the size of a snapshot in bytes; None if there is no such snapshot."""
        own = _file_id(id)
        return self._log.snapshot_size(own) if self._log.has_snapshot(own) else None

    def read_snapshot(self, id: OffsetAndEpoch, position: int, max_bytes: int) -> bytes:
        """Return bytes of a snapshot, cut anywhere."""
        return self._log.read_snapshot(_file_id(id), position, max_bytes)

    def iter_snapshot(self, id: OffsetAndEpoch) -> Iterator[VersionedRecord]:
        """Yield the metadata records of a snapshot, read in pieces. FileError if it is damaged."""
        return iter_snapshot(self._folder, _file_id(id), self._fs)

    def place(self, offset: int) -> tuple[Path, int]:
        """Return the file of a record in the log, and where its batch begins there."""
        return self._log.place(offset)

    def place_in_snapshot(self, id: OffsetAndEpoch, number: int) -> tuple[Path, int]:
        """Return the file of a snapshot, and where the batch of its record `number` begins."""
        return place_in_snapshot(self._folder, _file_id(id), number, self._fs)

    def persist(self, effect: PersistElection) -> None:
        """Replace quorum-state, flushed: a vote must be on the disk before it is answered."""
        try:
            state = QuorumState(data=effect.data, version=effect.version)
            write_quorum_state(self._folder, state, self._fs)
        except OSError as error:
            raise StorageFailed(f"{self._folder}: quorum-state: {error}") from error

    def append(self, effect: AppendLog) -> None:
        """Write batches at the end of the log, without flushing them."""
        self._log.append(effect.data)

    def truncate(self, effect: TruncateLog) -> None:
        """Remove everything from an offset on."""
        self._log.truncate_to(effect.offset)

    def flush(self) -> None:
        """Flush the appended batches to the disk. StorageFailed if that fails."""
        self._log.flush()

    def write_snapshot(self, effect: WriteSnapshot) -> None:
        """Write a part of a downloaded snapshot; the part at position 0 begins the file anew."""
        if effect.position == 0:
            if old := self._parts.pop(effect.id, None):
                old.discard()
            self._parts[effect.id] = self._log.begin_snapshot(_file_id(effect.id))
        self._parts[effect.id].append(effect.data)

    def finish_snapshot(self, effect: InstallSnapshot) -> None:
        """Flush and check a downloaded snapshot. FileError if it is damaged.

        May run in a thread: it uses no other file. `install_snapshot` comes next.
        """
        try:
            self._parts.pop(effect.id).freeze()
            check_snapshot(self._folder, _file_id(effect.id), self._fs)
        except OSError as error:
            raise StorageFailed(f"{self._folder}: snapshot {effect.id}: {error}") from error

    def install_snapshot(self, effect: InstallSnapshot) -> None:
        """Replace the log by a finished snapshot: the log begins at its offset."""
        self._log.add_snapshot(_file_id(effect.id), is_checked=True)
        self._log.truncate_to_latest_snapshot()

    def store_snapshot(self, id: OffsetAndEpoch, batches: Iterable[bytes]) -> None:
        """Write a snapshot of this node's own state, flush it, and read it again to check it.

        May run in a thread: it uses no other file. `add_snapshot` comes next.
        """
        try:
            write_snapshot(self._folder, _file_id(id), batches, self._fs)
            check_snapshot(self._folder, _file_id(id), self._fs)
        except OSError as error:
            raise StorageFailed(f"{self._folder}: snapshot {id}: {error}") from error

    def add_snapshot(self, id: OffsetAndEpoch) -> None:
        """Make a stored snapshot known; the log stays as it is."""
        self._log.add_snapshot(_file_id(id), is_checked=True)

    def clean(self, max_bytes: int) -> None:
        """Remove the oldest segments and snapshots until the rest takes `max_bytes` at most."""
        self._log.clean(max_bytes=max_bytes)

    def close(self) -> None:
        """Flush and close the files, and unlock the directory; unfinished snapshots are removed."""
        for part in self._parts.values():
            part.discard()
        self._parts.clear()
        try:
            self._log.close()
        finally:
            self._lock.close()


def _verified(storage: StorageProperties, fs: FileSystem) -> MetaProperties:
    """Return meta.properties of the metadata directory (Java: KafkaRaftServer.initializeLogDirs).

    Raises InvalidValue or FileError if Kafka would not start with the directories.
    """
    own = storage.metadata_log_dir
    # The metadata's first: their directory is the one to be told of.
    others = [folder for folder in storage.directories if folder != own]
    metas = verify_directories([own, *others], storage.node_id, fs)
    for folder in others:
        if fs.exists(folder / names.METADATA_FOLDER):
            raise FileError(
                f"a metadata log is here, but metadata.log.dir is {own}: name the directory with"
                " the log of this node, and move the other one away",
                file=folder / names.METADATA_FOLDER,
            )
    return metas[own]


def _bootstrap(folder: Path, fs: FileSystem) -> tuple[VersionedRecord, ...] | None:
    try:
        return read_bootstrap(folder, fs)
    except FileError as error:
        way = "restore the file from another controller; a new cluster's directory can be emptied"
        raise error.with_way_on(f"{way} and formatted again") from None


def _directory_id(storage: StorageProperties, environment: Environment) -> UUID:
    """Return the id of the metadata directory; write one into directories of before Kafka 3.7."""
    now = datetime.fromtimestamp(environment.wall_clock(), UTC)
    fs, new_id = environment.filesystem, partial(_new_id, environment)
    for folder in add_directory_ids(storage.directories, new_id, now, fs):
        logger.info("%s: had no directory.id and got one", folder)
    meta = read_meta_properties(storage.metadata_log_dir, fs)
    assert meta is not None, "it was read before"
    assert meta.directory_id is not None, "it has one now"
    return meta.directory_id


def _new_id(environment: Environment) -> UUID:
    """Return an id whose text begins with no dash, as Kafka makes them."""
    while uuid_text(candidate := environment.new_uuid()).startswith("-"):
        pass
    return candidate


def _raft_id(id: names.OffsetAndEpoch) -> OffsetAndEpoch:
    return OffsetAndEpoch(offset=id.offset, epoch=id.epoch)


def _file_id(id: OffsetAndEpoch) -> names.OffsetAndEpoch:
    return names.OffsetAndEpoch(offset=id.offset, epoch=id.epoch)
