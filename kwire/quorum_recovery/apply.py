"""Carries a recovery out: a backup, then the new epoch and the record of the new voters.

Interrupted anywhere, the directories are as before or as after: what comes first changes nothing
but the epoch in which the survivors may vote, and the record is one write.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kwire.batches import build_batch
from kwire.batches.control_records import quorum_record
from kwire.errors import FileError, InvalidValue, StorageFailed
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.lock import LOCK_FILE, DirectoryLock
from kwire.logdir.log import MetadataLog
from kwire.logdir.names import (
    BOOTSTRAP_CHECKPOINT,
    META_PROPERTIES,
    METADATA_FOLDER,
    is_left_over,
    is_own,
)
from kwire.logdir.quorum_state import QuorumState, write_quorum_state
from kwire.messages.data.quorum_state_data import QuorumStateData
from kwire.messages.data.quorum_state_data import Voter as StaticVoter
from kwire.quorum_recovery.errors import RecoveryRefused
from kwire.quorum_recovery.plan import RecoveryPlan
from kwire.quorum_recovery.survivor import Survivor, read_survivor

CHUNK = 1024 * 1024
"""Bytes that are copied at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """A recovery that was carried out. backups: the copies, by the directory that they are of."""

    backups: dict[Path, Path]


def apply_recovery(plan: RecoveryPlan, now: datetime, fs: FileSystem = DISK) -> Recovered:
    """Make the survivors the voters.

    1. Lock every directory, so that no node starts in it.
    2. See that nothing changed since the plan was made.
    3. Copy what is there beside each directory, and read the copy.
    4. Let no survivor vote in an epoch that is not after the new one.
    5. Append the record of the voters to the chosen survivor's log. A static quorum has none: its
       voters are in quorum-state and in every node's configuration.

    now: with a time zone. Raises RecoveryRefused for a directory that is in use or changed,
    FileError for a backup that cannot be read back, StorageFailed or OSError where a disk fails.
    """
    if plan.is_done:
        return Recovered(backups={})
    with ExitStack() as stack:
        # 1.
        for survivor in plan.survivors:
            stack.enter_context(_lock(survivor.folder, fs))
        # 2.
        for survivor in plan.survivors:
            _check_unchanged(survivor, fs)
        # 3.
        backups = {one.folder: _back_up(one, now, fs) for one in plan.survivors}
        # 4. The chosen one last: its voters tell that a static recovery is done.
        for survivor in reversed(plan.survivors):
            write_quorum_state(survivor.metadata_folder, _state(plan, survivor), fs)
        # 5.
        if not plan.static:
            _append_voters(plan, now, fs)
    return Recovered(backups=backups)


def is_in_use(folder: Path, fs: FileSystem = DISK) -> bool:
    """Return True if a process has the lock of a directory; nothing is made there."""
    if not fs.exists(folder / LOCK_FILE):
        return False
    try:
        DirectoryLock(folder, fs).close()
    except InvalidValue:
        return True
    except OSError:
        return False  # a copy that cannot be written to
    return False


def _lock(folder: Path, fs: FileSystem) -> DirectoryLock:
    try:
        return DirectoryLock(folder, fs)
    except InvalidValue as error:
        raise RecoveryRefused(f"a node runs in {folder}: stop it first") from error


def _check_unchanged(survivor: Survivor, fs: FileSystem) -> None:
    found = read_survivor(survivor.folder, fs)
    if (found.end, found.state) != (survivor.end, survivor.state):
        raise RecoveryRefused(f"{survivor.folder} changed since it was read: make the plan again")


def _state(plan: RecoveryPlan, survivor: Survivor) -> QuorumState:
    """Return a state without leader and vote, in the new epoch."""
    data = QuorumStateData(leader_id=-1, leader_epoch=plan.epoch, voted_id=-1)
    if plan.static:
        ids = sorted(one.node_id for one in plan.survivors)
        data.cluster_id = survivor.state.data.cluster_id
        data.current_voters = [StaticVoter(voter_id=node_id) for node_id in ids]
    return QuorumState(data=data, version=0 if plan.static else 1)


def _append_voters(plan: RecoveryPlan, now: datetime, fs: FileSystem) -> None:
    # Not before the last record, whatever this machine's clock says: a log is cleaned by its times.
    time = max(int(now.timestamp() * 1000), plan.chosen.latest_time)
    record = quorum_record(plan.record, timestamp=time)
    with MetadataLog.open(plan.chosen.metadata_folder, fs) as log:
        batch = build_batch(
            [record],
            base_offset=log.end_offset,
            partition_leader_epoch=plan.epoch,
            is_control=True,
        )
        log.append(batch)
        log.flush()


def _back_up(survivor: Survivor, now: datetime, fs: FileSystem) -> Path:
    """Copy the log and the files about it beside a directory; return the copy.

    It counts from its renaming on: a copy that ends early keeps the name of a part.
    """
    folder = survivor.folder.resolve()
    backup = folder.with_name(f"{folder.name}.before-recovery-{now:%Y%m%dT%H%M%SZ}")
    part = backup.with_name(f"{backup.name}.part")
    try:
        fs.make_folder(part / METADATA_FOLDER)
        for name in _files(folder, fs):
            _copy(folder / name, part / name, fs)
        fs.flush_folder(part / METADATA_FOLDER)
        fs.flush_folder(part)
        fs.rename(part, backup)
        fs.flush_folder(backup.parent)
    except OSError as error:
        with suppress(OSError):
            _remove(part, fs)
        raise StorageFailed(
            f"{survivor.folder} cannot be copied to {backup}: {error.strerror or error};"
            " nothing was changed"
        ) from error
    copied = read_survivor(backup, fs)
    if (copied.end, copied.state) != (survivor.end, survivor.state):
        raise FileError("the backup does not say what the directory says", file=backup)
    return backup


def _files(folder: Path, fs: FileSystem) -> Iterator[Path]:
    """Yield the files of a node that a recovery may touch, or that its log needs."""
    for name in (META_PROPERTIES, BOOTSTRAP_CHECKPOINT):
        if fs.exists(folder / name):
            yield Path(name)
    for name in fs.names(folder / METADATA_FOLDER):
        if is_own(name) and not is_left_over(name):
            yield Path(METADATA_FOLDER, name)


def _copy(source: Path, target: Path, fs: FileSystem) -> None:
    fs.remove(target)
    old, new = fs.open(source), fs.open(target, write=True)
    try:
        position = 0
        while data := old.read(position, CHUNK):
            new.append(data)
            position += len(data)
        new.flush()
    finally:
        old.close()
        new.close()


def _remove(folder: Path, fs: FileSystem) -> None:
    """Remove what was copied of a backup that fails; a full disk has room again."""
    for name in _files(folder, fs):
        fs.remove(folder / name)
