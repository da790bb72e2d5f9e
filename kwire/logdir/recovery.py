"""Reads a metadata folder when it is opened, and compares its files, before anything is changed.

What one file knows of, the others must have: a log, a vote or a snapshot that is gone is no crash's
work. The order of all writes (`MetadataLog`) sees to it that a crash never looks like a loss
(docs/decisions/0094).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kwire.errors import FileError
from kwire.logdir.filesystem import FileSystem, check_is_file
from kwire.logdir.indexes import read_offset_index, read_time_index
from kwire.logdir.leader_epochs import LeaderEpochs, parse_leader_epochs, parse_partition_metadata
from kwire.logdir.lock import LOCK_FILE
from kwire.logdir.meta_properties import MetaProperties
from kwire.logdir.names import (
    BOOTSTRAP_SNAPSHOT,
    LEADER_EPOCH_CHECKPOINT,
    META_PROPERTIES,
    METADATA_FOLDER,
    OFFSET_INDEX_SUFFIX,
    PARTITION_METADATA,
    QUORUM_STATE,
    OffsetAndEpoch,
    is_index,
    is_left_over,
    is_own,
    segment_name,
    segment_offset,
    snapshot_id,
    snapshot_name,
)
from kwire.logdir.quorum_state import LAST_EPOCH, QuorumState, read_quorum_state
from kwire.logdir.segment import Segment, TornTail
from kwire.logdir.snapshots import check_snapshot, load_snapshot
from kwire.messages.data.quorum_state_data import QuorumStateData
from kwire.messages.metadata_topic import METADATA_TOPIC_ID
from kwire.text.ids import ZERO_UUID, uuid_text

RESTORE = "restore what is missing, or replace this controller"
"""The way out that loses nothing; docs/engineers/controller.md tells how."""


@dataclass(slots=True, kw_only=True)
class RecoveredLog:
    """The parts of a metadata log; torn: what a crash left of an unflushed write."""

    folder: Path
    segments: list[Segment]
    snapshots: list[OffsetAndEpoch]
    epochs: LeaderEpochs
    torn: TornTail | None

    @property
    def start(self) -> int:
        """The first offset of the segments."""
        return self.segments[0].base_offset if self.segments else 0

    @property
    def end(self) -> int:
        """The offset after the last record of the segments."""
        return self.segments[-1].next_offset if self.segments else 0

    @property
    def last_epoch(self) -> int:
        """The greatest epoch of a record or of a snapshot; 0 if there is neither."""
        return max(self.epochs.latest or 0, *(id.epoch for id in self.snapshots), 0)

    def close(self) -> None:
        """Close the segments."""
        for segment in self.segments:
            segment.close()


def recover(fs: FileSystem, folder: Path, *, write: bool = True) -> RecoveredLog:
    """Read and check everything in a folder; change nothing.

    1. What has the name of a file is one. The small files are of their form.
    2. Segments are sound and follow each other; the last one may end torn.
    3. Neither indexes nor leader-epoch-checkpoint know of more than the segments have.
    4. leader-epoch-checkpoint has the epochs of the batches.
    5. Snapshots are whole and of this log, and one stands for what is before the log's start.

    write: open the segments for writing. Raises FileError for what no crash explains.
    """
    names = fs.names(folder)
    for name in names:
        if is_own(name):
            check_is_file(fs, folder / name)
    # 1. The checkpoint and the indexes come before the segments: a node may be writing them.
    noted = _noted_epochs(fs, folder)
    indexed = {name: _last_indexed(fs, folder / name) for name in names if is_index(name)}
    log = RecoveredLog(
        folder=folder,
        segments=[],
        snapshots=sorted(id for name in names if (id := snapshot_id(name)) is not None),
        epochs=LeaderEpochs(),
        torn=None,
    )
    try:
        # 2.
        _read_segments(fs, log, names, write)
        # 3.
        _check_end(log, names, indexed, noted)
        # 4.
        _check_epochs(log, noted)
        # 5.
        _check_snapshots(fs, log)
    except BaseException:
        log.close()
        raise
    return log


def _noted_epochs(fs: FileSystem, folder: Path) -> LeaderEpochs:
    """Read leader-epoch-checkpoint, and partition.metadata beside it.

    Raises FileError for one that is not of its form: both are replaced whole.
    """
    epochs, partition = folder / LEADER_EPOCH_CHECKPOINT, folder / PARTITION_METADATA
    try:
        if fs.exists(partition):
            topic = parse_partition_metadata(fs.read_file(partition), partition)
            if topic != METADATA_TOPIC_ID:
                raise FileError(f"is of the topic {topic}, not of the metadata", file=partition)
        if not fs.exists(epochs):
            return LeaderEpochs()
        return parse_leader_epochs(fs.read_file(epochs), epochs)
    except FileError as error:
        raise error.with_way_on("restore it, or remove it to go on with what is left") from None


def _read_segments(fs: FileSystem, log: RecoveredLog, names: list[str], write: bool) -> None:
    bases = sorted(base for name in names if (base := segment_offset(name)) is not None)
    for base in bases:
        # A gap between segments is no crash's work: segments are added one at a time, each
        # flushed before the next one gets its first batch.
        if log.segments and log.end != base:
            reason = f"begins at {base}, the segment before it ends at {log.end}; {RESTORE}; to go"
            reason += " on with what is before it, remove this segment and those after it"
            raise FileError(reason, file=log.folder / segment_name(base))
        segment = Segment(fs, log.folder, base, write=write)
        log.segments.append(segment)
        # Only the last segment can have an unflushed end: `MetadataLog` flushes a segment
        # before it begins the next one.
        try:
            log.torn = segment.recover(last=base == bases[-1])
        except FileError as error:
            way = "to go on with what is before it, cut the file there and remove the segments"
            raise error.with_way_on(f"{RESTORE}; {way} after it") from None
        # From the batches and not from leader-epoch-checkpoint, which may not know the last one.
        for epoch, offset in segment.epochs:
            log.epochs.assign(epoch, offset)


def _last_indexed(fs: FileSystem, path: Path) -> int:
    """Return the last offset that an index names, -1 if it names none."""
    read = read_offset_index if path.suffix == OFFSET_INDEX_SUFFIX else read_time_index
    entries = read(fs.read_file(path), int(path.stem))
    # Offset and position, or time and offset.
    offset = 0 if path.suffix == OFFSET_INDEX_SUFFIX else 1
    return max((entry[offset] for entry in entries), default=-1)


def _check_end(
    log: RecoveredLog, names: list[str], indexed: Mapping[str, int], noted: LeaderEpochs
) -> None:
    """Raise FileError if another file knows of more than the segments have.

    An index is removed before its segment, and an epoch is noted when its first batch is on the
    disk.
    """
    ends = {segment.base_offset: segment.next_offset for segment in log.segments}
    knowing: dict[str, str] = {}
    for name, offset in indexed.items():
        segment = segment_name(int(name[:20]))
        # Kafka renames a segment that it removes before it renames the indexes.
        if offset >= ends.get(int(name[:20]), offset + 1):
            knowing[name] = f"offset {offset}"
        elif segment not in names and f"{segment}.deleted" not in names:
            knowing[name] = f"{segment}"
    if noted.starts and _are_beyond(log, noted.starts):
        last = noted.starts[-1]
        knowing[LEADER_EPOCH_CHECKPOINT] = f"epoch {last.epoch} from offset {last.offset} on"
    if not knowing:
        return
    what = f"the log ends at offset {log.end}" if log.segments else "is not there"
    known = ", ".join(f"{name} knows of {more}" for name, more in knowing.items())
    remedy = f"{RESTORE}; to go on with what is left, remove {' and '.join(knowing)}"
    path = log.segments[-1].path if log.segments else log.folder / segment_name(0)
    size = log.segments[-1].size if log.segments else 0
    raise FileError(f"{what}, but {known}; {remedy}", file=path, offset=size)


def _are_beyond(log: RecoveredLog, starts: tuple[OffsetAndEpoch, ...]) -> bool:
    """Return True if the segments lack the first record of the epoch that was noted last."""
    last = starts[-1]
    # Where all of a log was cleaned, what is left is the epoch at its end, which a snapshot has.
    is_cleaned = len(starts) == 1 and last == OffsetAndEpoch(offset=log.end, epoch=log.last_epoch)
    return not log.segments or (last.offset >= log.end and not is_cleaned)


def _check_epochs(log: RecoveredLog, noted: LeaderEpochs) -> None:
    """Compare the epochs that were noted with those of the batches."""
    for start in noted.starts:
        # Before the log's start: it was cleaned.
        if not log.start <= start.offset < log.end:
            continue
        if (epoch := log.epochs.at(start.offset)) != start.epoch:
            raise FileError(
                f"has epoch {start.epoch} from offset {start.offset} on, where the log has epoch"
                f" {epoch}; {RESTORE}; to go on with what is left, remove this file",
                file=log.folder / LEADER_EPOCH_CHECKPOINT,
            )


def _check_snapshots(fs: FileSystem, log: RecoveredLog) -> None:
    usable = [id for id in log.snapshots if id.offset >= log.start]
    for id in usable:
        others = [other for other in usable if other not in (id, BOOTSTRAP_SNAPSHOT)]
        has_rest = id != BOOTSTRAP_SNAPSHOT and (not log.start or others)
        remedy = f"{RESTORE}; to go on without this snapshot, remove it" if has_rest else RESTORE
        path = log.folder / snapshot_name(id)
        try:
            check_snapshot(log.folder, id, fs)
        except FileError as error:
            raise error.with_way_on(remedy) from None
        # A snapshot of a later epoch is about to take the place of the log.
        is_of_log = log.start < id.offset and id.epoch <= (log.epochs.latest or 0)
        epoch = log.epochs.at(min(id.offset, log.end) - 1)
        differs = epoch != id.epoch if id.offset <= log.end else (epoch or 0) > id.epoch
        # Before a transaction Kafka's has the epoch of the batch that begins it
        # (MetadataBatchLoader), also if no record of that epoch is in the snapshot.
        differs = differs and log.epochs.at(id.offset) != id.epoch
        if is_of_log and differs:
            reason = f"ends in epoch {id.epoch}, where the log has epoch {epoch}; {remedy}"
            raise FileError(reason, file=path)
    if log.start and not usable:
        reason = f"the log begins at {log.start} without a snapshot; {RESTORE}"
        raise FileError(reason, file=log.segments[0].path)


def check_quorum_state(fs: FileSystem, log: RecoveredLog) -> QuorumState | None:
    """Return quorum-state, None for a replica that never voted.

    It is written before a vote is answered, and before the first record of an epoch. Raises
    FileError if the log knows of later epochs, or if no election can follow.
    """
    path = log.folder / QUORUM_STATE
    try:
        state, known = read_quorum_state(log.folder, fs), ""
    except FileError as error:
        state, known = None, error.reason
    epoch = state.data.leader_epoch if state else 0
    if epoch == LAST_EPOCH:
        raise FileError(
            f"epoch {epoch} is the last there is, and no leader can be elected after it; to go on,"
            " stop all controllers and lower leaderEpoch to the greatest epoch of the logs in all"
            " of these files",
            file=path,
        )
    if epoch >= log.last_epoch and (state or not log.end) and not known:
        return state
    known = known or (f"has epoch {epoch}" if state else "is not there")
    # An epoch that the log does not know: in all that it knows this replica may have voted.
    data = QuorumStateData(leader_id=-1, leader_epoch=log.last_epoch + 1, voted_id=-1)
    line = QuorumState(data=data, version=0).encode().decode()
    raise FileError(
        f"{known}, but the log has epoch {log.last_epoch}: this controller could vote twice in an"
        f" epoch; restore the file, or replace this controller; to go on all the same, write to it"
        f" {line}",
        file=path,
    )


def check_directory_id(
    fs: FileSystem, meta: MetaProperties, log: RecoveredLog, state: QuorumState | None
) -> None:
    """Raise FileError if the replica in a folder had another directory id than meta.properties has.

    1. A first voter is formatted with the id that the first voters name (KIP-853).
    2. A vote for itself has its id.
    """
    ids = {}
    # 1.
    if BOOTSTRAP_SNAPSHOT in log.snapshots:
        voters = load_snapshot(log.folder, BOOTSTRAP_SNAPSHOT, fs).voters
        for voter in voters.voters if voters else ():
            if voter.voter_id == meta.node_id:
                ids[voter.voter_directory_id] = snapshot_name(BOOTSTRAP_SNAPSHOT)
    # 2.
    if state and state.data.voted_id == meta.node_id:
        ids.setdefault(state.data.voted_directory_id, QUORUM_STATE)
    for id, name in ids.items():
        if id not in (ZERO_UUID, meta.directory_id):
            known = meta.directory_id and uuid_text(meta.directory_id)
            raise FileError(
                f"directory.id is {known}, but {METADATA_FOLDER}/{name} has node {meta.node_id}"
                f" with {uuid_text(id)}: restore this file, or write directory.id={uuid_text(id)};"
                " to begin a new replica, format an empty directory",
                file=log.folder.parent / META_PROPERTIES,
            )


def check_folder(fs: FileSystem, folder: Path) -> None:
    """Raise FileError if a node ran in a directory, and nothing of the metadata log is there.

    See `begin_folder`. A crash leaves a log without segments only where a snapshot is about to take
    its place.
    """
    lock, log = folder / LOCK_FILE, folder / METADATA_FOLDER
    check_is_file(fs, lock)
    if fs.exists(log) and not fs.is_folder(log):
        raise FileError(f"is no folder: move it away; {RESTORE}", file=log)
    if fs.exists(lock) and not _has_log(fs, log):
        reason = f"a node ran here, but no log is in {METADATA_FOLDER}; {RESTORE}; to begin with an"
        reason += f" empty log, move away what is in {folder} and format it again"
        raise FileError(reason, file=lock)


def begin_folder(fs: FileSystem, folder: Path) -> None:
    """Begin a log in a directory in which no node ran: whatever has been locked has a log.

    Nothing else may be written before the lock, since another process may run there.
    """
    log = folder / METADATA_FOLDER
    fs.make_folder(log)
    if not fs.exists(folder / LOCK_FILE) and not _has_log(fs, log):
        fs.open(log / segment_name(0), write=True).close()
    fs.flush_folder(log)
    fs.flush_folder(folder)


def _has_log(fs: FileSystem, folder: Path) -> bool:
    """Return True for a segment, or a snapshot that no formatting wrote."""
    return any(
        segment_offset(name) is not None or snapshot_id(name) not in (None, BOOTSTRAP_SNAPSHOT)
        for name in fs.names(folder)
    )


def contradiction(fs: FileSystem, folder: Path, meta: MetaProperties | None = None) -> str | None:
    """Return what keeps a metadata folder from being opened; None if nothing does.

    meta: of the directory that it lies in, if that is asked about, too.
    """
    try:
        log = recover(fs, folder, write=False)
        try:
            state = check_quorum_state(fs, log)
            if meta is not None:
                check_directory_id(fs, meta, log, state)
        finally:
            log.close()
    except (FileError, OSError) as error:
        return str(error)
    return None


def remove_left_overs(fs: FileSystem, folder: Path) -> None:
    """Remove what was being removed, or never finished, when the last process ended."""
    for name in fs.names(folder):
        if is_left_over(name):
            fs.remove(folder / name)
