"""Reads what the directory of a controller tells about its quorum. Nothing is written.

A log does not say how far it is committed; a checkpoint does: it ends at an offset that a majority
had (KIP-630).
"""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from kwire.batches import RecordBatch
from kwire.batches.control_records import read_control_record
from kwire.errors import FileError
from kwire.image import MetadataImage
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.meta_properties import MetaProperties, read_meta_properties
from kwire.logdir.names import METADATA_FOLDER, OffsetAndEpoch, segment_offset
from kwire.logdir.quorum_state import QuorumState
from kwire.logdir.recovery import (
    RecoveredLog,
    check_directory_id,
    check_quorum_state,
    recover,
)
from kwire.logdir.segment import Segment, TornTail
from kwire.logdir.snapshots import load_snapshot
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.data.quorum_state_data import QuorumStateData
from kwire.messages.data.voters_record import Voter, VotersRecord
from kwire.observer.stored_metadata import read_metadata_folder
from kwire.quorum_recovery.errors import RecoveryRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownVoters:
    """The voters as a log or a checkpoint has them from an offset on."""

    position: OffsetAndEpoch
    voters: tuple[Voter, ...]

    @property
    def ids(self) -> frozenset[int]:
        """The ids of the voters."""
        return frozenset(voter.voter_id for voter in self.voters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """A controller's directory, or a copy of it; a broker's, to be compared.

    start: the first offset in the log. end: the offset after the last record and its epoch; those
    of the last checkpoint if that is ahead. epochs: each epoch in the log with the offset that it
    begins at. committed: the end of the last checkpoint, which is proved to be committed. torn:
    what a crash left half written, and opening the log cuts off. voter_sets: oldest first; empty
    for a static quorum, whose voters quorum-state has. last_leader: the last one that the log has.
    latest_time: the latest of any batch, in milliseconds since 1970; -1 without one. clock_step:
    the longest way back from the time of a batch to that of a later one, in milliseconds. is_copy:
    it may be older than what the controller had, and acknowledged, at its end.
    """

    folder: Path
    meta: MetaProperties
    start: int
    end: OffsetAndEpoch
    epochs: tuple[OffsetAndEpoch, ...]
    committed: OffsetAndEpoch
    torn: TornTail | None
    state: QuorumState
    kraft_version: int
    voter_sets: tuple[KnownVoters, ...]
    last_leader: int | None
    latest_time: int
    clock_step: int
    image: MetadataImage
    is_copy: bool = False

    @property
    def node_id(self) -> int:
        """The id of the node."""
        assert self.meta.node_id is not None, "read_survivor takes no other"
        return self.meta.node_id

    @property
    def metadata_folder(self) -> Path:
        """The folder of the log."""
        return self.folder / METADATA_FOLDER

    @property
    def is_controller(self) -> bool:
        """True for a voter of any voter set, and for a controller that has registered."""
        ids = self.voter_ids.union(*(voters.ids for voters in self.voter_sets))
        return self.node_id in ids or self.node_id in self.image.cluster.controllers

    @property
    def voters(self) -> tuple[Voter, ...]:
        """The voters in force with their endpoints; none in a static quorum."""
        return self.voter_sets[-1].voters if self.voter_sets else ()

    @property
    def voter_ids(self) -> frozenset[int]:
        """The ids of the voters in force."""
        if self.kraft_version:
            return self.voter_sets[-1].ids if self.voter_sets else frozenset()
        return frozenset(voter.voter_id for voter in self.state.data.current_voters or ())

    @property
    def last_known_epoch(self) -> int:
        """The greatest epoch in which this replica wrote, voted or followed."""
        return max(self.end.epoch, self.state.data.leader_epoch)


def read_survivor(folder: Path, fs: FileSystem = DISK) -> Survivor:
    """Read all that matters for a recovery.

    1. meta.properties says which node of which cluster this is.
    2. The log, its checkpoints and quorum-state are sound and of one replica.
    3. Control records of checkpoints and log give the voters, kraft.version and the last leader.
    4. The image knows the addresses that controllers registered.

    A broker's copy of the log is read in the same way.

    Raises RecoveryRefused for a directory that cannot be a survivor, FileError for one that is
    damaged.
    """
    # 1.
    meta = read_meta_properties(folder, fs) if fs.is_folder(folder) else None
    if meta is None or meta.node_id is None or meta.cluster_id is None:
        raise RecoveryRefused(f"{folder} {_what_is_missing(folder, fs)}")
    # 2.
    log = recover(fs, folder / METADATA_FOLDER, write=False)
    try:
        state = check_quorum_state(fs, log)
        check_directory_id(fs, meta, log, state)
        # 3.
        history = _History.of(log, fs)
    finally:
        log.close()
    if history.end == OffsetAndEpoch(offset=0, epoch=0):
        raise RecoveryRefused(f"{folder} has an empty metadata log: there is nothing to recover")
    # 4.
    image = read_metadata_folder(folder, fs).image
    return Survivor(
        folder=folder,
        meta=meta,
        start=log.start,
        end=history.end,
        epochs=log.epochs.starts,
        committed=max(log.snapshots, default=OffsetAndEpoch(offset=0, epoch=0)),
        torn=log.torn,
        state=state or QuorumState(data=QuorumStateData(leader_epoch=0), version=1),
        kraft_version=history.kraft_version,
        voter_sets=tuple(history.voter_sets),
        last_leader=history.last_leader,
        latest_time=history.latest_time,
        clock_step=history.clock_step,
        image=image,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedLog:
    """A directory that no node starts with.

    error: what is broken, where, and the ways on. left: the end of the batches that are whole and
    follow each other from the log's start on; None if there is none.
    """

    folder: Path
    error: FileError
    left: OffsetAndEpoch | None


def examine_damage(folder: Path, error: FileError, fs: FileSystem = DISK) -> DamagedLog:
    """Return what would be left of the log in a directory that `read_survivor` refused."""
    log = folder / METADATA_FOLDER
    left: OffsetAndEpoch | None = None
    bases = sorted(base for name in fs.names(log) if (base := segment_offset(name)) is not None)
    for base in bases:
        if left is not None and left.offset != base:
            break
        segment = Segment(fs, log, base, write=False)
        # What is whole before the damage is noted in the segment.
        with closing(segment), suppress(FileError):
            segment.recover(last=True)
        if segment.epochs:
            left = OffsetAndEpoch(offset=segment.next_offset, epoch=segment.epochs[-1][0])
    return DamagedLog(folder=folder, error=error, left=left)


def _what_is_missing(folder: Path, fs: FileSystem) -> str:
    if not fs.is_folder(folder):
        return "is no directory" if fs.exists(folder) else "does not exist"
    if folder.name == METADATA_FOLDER:
        return f"is a metadata log: give the directory that it lies in, {folder.parent}"
    if fs.is_folder(folder / METADATA_FOLDER):
        return f"has no whole meta.properties beside {METADATA_FOLDER}: copy that as well"
    return (
        "is not the directory of a node: it has no meta.properties; give what metadata.log.dir of"
        " its server.properties names, else the first of log.dirs"
    )


@dataclass(slots=True)
class _History:
    """The words of control records, oldest first, and the times of batches."""

    end: OffsetAndEpoch
    epochs: tuple[OffsetAndEpoch, ...]
    voter_sets: list[KnownVoters]
    kraft_version: int = 0
    last_leader: int | None = None
    latest_time: int = -1
    clock_step: int = 0

    @classmethod
    def of(cls, log: RecoveredLog, fs: FileSystem) -> _History:
        """Read checkpoints and log; a checkpoint that is ahead of the log comes after it."""
        end = OffsetAndEpoch(offset=log.end, epoch=log.epochs.latest or 0)
        history = cls(end=end, epochs=log.epochs.starts, voter_sets=[])
        for id in sorted(log.snapshots):
            if id.offset <= log.start:
                history._take_snapshot(log.folder, id, fs)
        for segment in log.segments:
            for _, batch in segment.batches(segment.base_offset):
                history._take_batch(batch)
        latest = max(log.snapshots, default=end)
        if latest > end:
            history._take_snapshot(log.folder, latest, fs)
            history.end = latest
        elif not log.segments or log.start == log.end:
            history.end = max(latest, end)
        return history

    def _take_batch(self, batch: RecordBatch) -> None:
        self.clock_step = max(self.clock_step, self.latest_time - batch.max_timestamp)
        self.latest_time = max(self.latest_time, batch.max_timestamp)
        for record in batch.records() if batch.is_control else ():
            position = OffsetAndEpoch(offset=record.offset, epoch=batch.partition_leader_epoch)
            self._take(position, read_control_record(record).message)

    def _take_snapshot(self, folder: Path, id: OffsetAndEpoch, fs: FileSystem) -> None:
        content = load_snapshot(folder, id, fs)
        self.kraft_version = content.kraft_version
        if content.voters is not None:
            self._take(id, content.voters)

    def _take(self, position: OffsetAndEpoch, message: object) -> None:
        if isinstance(message, KRaftVersionRecord):
            self.kraft_version = message.k_raft_version
        elif isinstance(message, LeaderChangeMessage):
            self.last_leader = message.leader_id
        elif isinstance(message, VotersRecord):
            found = KnownVoters(position=position, voters=tuple(message.voters))
            # A first leader writes the set of the formatting again; a recovery begins an epoch.
            is_same = self.voter_sets and self.voter_sets[-1].voters == found.voters
            if not is_same or position in self.epochs:
                self.voter_sets.append(found)
