"""The records that the first leader of a cluster writes first (KIP-778)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kwire.batches.metadata_records import VersionedRecord
from kwire.logdir.filesystem import DISK, FileSystem, check_is_file
from kwire.logdir.names import (
    BOOTSTRAP_CHECKPOINT,
    BOOTSTRAP_SNAPSHOT,
    METADATA_FOLDER,
    snapshot_name,
)
from kwire.logdir.snapshots import build_snapshot, snapshot_content


def write_bootstrap(
    folder: Path, records: Iterable[VersionedRecord], now: int, fs: FileSystem = DISK
) -> None:
    """Write the file of a log directory: a snapshot without voters, at epoch 0."""
    data = b"".join(build_snapshot(records, epoch=0, now=now))
    fs.replace_file(folder / BOOTSTRAP_CHECKPOINT, data)


def read_bootstrap(folder: Path, fs: FileSystem = DISK) -> tuple[VersionedRecord, ...] | None:
    """Return the records; None if there is no file. Raises FileError if the file is broken.

    1. Up to Kafka 4.3 they have a file of their own.
    2. Since 4.4 they are in the snapshot with the first voters, which StorageTool writes as well.
    """
    # 1.
    file = folder / BOOTSTRAP_CHECKPOINT
    if not fs.exists(file):
        # 2.
        file = folder / METADATA_FOLDER / snapshot_name(BOOTSTRAP_SNAPSHOT)
    check_is_file(fs, file)
    return snapshot_content(fs.read_file(file), file).records if fs.exists(file) else None
