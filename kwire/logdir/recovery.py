"""Reads and checks a metadata folder when it is opened, before anything is changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kwire.errors import FileError
from kwire.logdir.filesystem import FileSystem
from kwire.logdir.leader_epochs import LeaderEpochs, parse_leader_epochs, parse_partition_metadata
from kwire.logdir.names import (
    LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA,
    OffsetAndEpoch,
    is_left_over,
    segment_offset,
    snapshot_id,
)
from kwire.logdir.segment import Segment, TornTail


@dataclass(slots=True, kw_only=True)
class RecoveredLog:
    """The parts of a metadata log; torn: what a crash left of an unflushed write."""

    segments: list[Segment]
    snapshots: list[OffsetAndEpoch]
    epochs: LeaderEpochs
    torn: TornTail | None


def recover(fs: FileSystem, folder: Path) -> RecoveredLog:
    """Read and check all segments and the small files; cut off a torn tail.

    Raises FileError, and has changed nothing, where something else is wrong.
    """
    names = fs.names(folder)
    check_small_files(fs, folder)
    bases = sorted(base for name in names if (base := segment_offset(name)) is not None)
    segments: list[Segment] = []
    torn = None
    try:
        for base in bases:
            # A gap between segments is no crash's work: segments are added one at a time, each
            # flushed before the next one gets its first batch.
            if segments and segments[-1].next_offset != base:
                ends = segments[-1].next_offset
                reason = f"begins at {base}, the segment before it ends at {ends}"
                raise FileError(reason, file=segments[-1].path.with_name(f"{base:020d}.log"))
            segments.append(Segment(fs, folder, base))
            # Only the last segment can have an unflushed end: `MetadataLog` flushes a segment
            # before it begins the next one.
            torn = segments[-1].recover(last=base == bases[-1])
    except BaseException:
        for segment in segments:
            segment.close()
        raise
    snapshots = sorted(snapshot for name in names if (snapshot := snapshot_id(name)) is not None)
    return RecoveredLog(
        segments=segments, snapshots=snapshots, epochs=epochs_of(segments), torn=torn
    )


def check_small_files(fs: FileSystem, folder: Path) -> None:
    """Raise FileError for a small file that is not of its form: no crash leaves such a file.

    They are replaced whole, and the epochs are taken from the batches anyway.
    """
    epochs, partition = folder / LEADER_EPOCH_CHECKPOINT, folder / PARTITION_METADATA
    if fs.exists(epochs):
        parse_leader_epochs(fs.read_file(epochs), epochs)
    if fs.exists(partition):
        parse_partition_metadata(fs.read_file(partition), partition)


def epochs_of(segments: list[Segment]) -> LeaderEpochs:
    """Return the epochs that the batches name."""
    # From the batches and not from leader-epoch-checkpoint: after a crash the file may know of
    # batches that were cut off, or not of the last ones.
    epochs = LeaderEpochs()
    for segment in segments:
        for epoch, offset in segment.epochs:
            epochs.assign(epoch, offset)
    return epochs


def remove_left_overs(fs: FileSystem, folder: Path) -> None:
    """Remove what was being removed, or never finished, when the last process ended."""
    for name in fs.names(folder):
        if is_left_over(name):
            fs.remove(folder / name)
