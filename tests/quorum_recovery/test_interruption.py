"""A recovery that ends at any of its writes: before or after, never between, and it can go on."""

from __future__ import annotations

import errno
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from kwire.errors import StorageFailed
from kwire.quorum_recovery.apply import apply_recovery
from kwire.quorum_recovery.plan import RecoveryPlan, plan_recovery
from kwire.quorum_recovery.survivor import Survivor, read_survivor
from memory_files import MemoryFileSystem
from simulator.recovered_disk import NOW, folder_of, write_directory
from simulator.recoveries import minority, recoverable_quorum
from simulator.run import Run
from tests.support.seed import SEED

LATER = NOW + timedelta(minutes=1)
"""A backup is named by the second in which it was made."""


class Ended(BaseException):
    """The process was killed: nothing of it is carried out any more."""


@dataclass(slots=True)
class Interruption:
    """Lets so many operations pass. is_failure: the next one fails as on a full disk, and those
    after it pass; else the process ends there."""

    left: int
    is_failure: bool

    def __call__(self, operation: str, path: Path) -> None:
        self.left -= 1
        if self.is_failure and self.left == -1:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        if self.left < 0 and not self.is_failure:
            raise Ended


@dataclass(frozen=True, slots=True)
class Directories:
    """The survivors' directories of a broken quorum, before anything is recovered."""

    fs: MemoryFileSystem
    folders: tuple[Path, ...]

    @classmethod
    def of(cls, seed: int, *, dynamic: bool) -> Directories:
        """Return those of one history."""
        run = Run(seed)
        cluster = recoverable_quorum(run, dynamic=dynamic)
        machines = [cluster.machines[id] for id in minority(run, cluster)]
        cluster.network.isolate(machines[0].id)
        cluster.scheduler.run_for(500)
        for machine in machines:
            machine.kill()
        fs = MemoryFileSystem()
        for machine in machines:
            write_directory(machine, fs, run.random)
        return cls(fs, tuple(folder_of(machine) for machine in machines))

    def copy(self) -> Directories:
        """Return a copy on a disk of its own."""
        return Directories(deepcopy(self.fs), self.folders)

    @property
    def survivors(self) -> list[Survivor]:
        """Read the directories as they are now."""
        return [read_survivor(folder, self.fs) for folder in self.folders]

    def backups(self) -> list[Path]:
        """The finished copies."""
        names = self.fs.names(self.folders[0].parent)
        found = [name for name in names if ".before-recovery-" in name]
        return [self.folders[0].parent / name for name in found if not name.endswith(".part")]


def writes(directories: Directories, plan: RecoveryPlan) -> int:
    """Return the number of operations of a whole recovery that change a disk."""
    count = Interruption(1 << 30, is_failure=True)
    directories.fs.fault = count
    apply_recovery(plan, NOW, directories.fs)
    return (1 << 30) - count.left


def keep_running(fs: MemoryFileSystem, random: Random) -> None:
    """Leave everything that was written: the process ended, and the machine did not."""
    fs.unlock()


def cut_power(fs: MemoryFileSystem, random: Random) -> None:
    """Keep what was flushed, and a part of what was not."""
    fs.crash(lambda path, data: data[: random.randrange(len(data) + 1)])


def is_before(now: Survivor, before: Survivor) -> bool:
    """Return True if a log and the voters in it are as they were."""
    return (now.end, now.epochs, now.voter_sets) == (before.end, before.epochs, before.voter_sets)


@pytest.mark.parametrize("half", [0, 1])  # of the operations, for the time of one test
@pytest.mark.parametrize("dynamic", [True, False])
@pytest.mark.parametrize(
    ("is_failure", "after"), [(True, keep_running), (False, keep_running), (False, cut_power)]
)
def test_after_any_write_it_is_before_or_after_and_goes_on(
    is_failure: bool, after: Callable[[MemoryFileSystem, Random], None], dynamic: bool, half: int
) -> None:
    whole = Directories.of(SEED, dynamic=dynamic)
    before, random = whole.survivors, Random(SEED)
    plan = plan_recovery(before)
    count = writes(whole.copy(), plan)
    assert count > 20
    for left in range(half, count, 2):
        now = whole.copy()
        now.fs.fault = Interruption(left, is_failure)
        with pytest.raises((OSError, StorageFailed, Ended)):
            apply_recovery(plan, NOW, now.fs)
        now.fs.fault = None
        after(now.fs, random)
        found = now.survivors
        again = plan_recovery(found)
        _check_between(found, before, plan, is_done=again.is_done)
        _check_backups(now, before)
        apply_recovery(again, LATER, now.fs)
        _check_after(now.survivors, plan)


def _check_between(
    found: list[Survivor], before: list[Survivor], plan: RecoveryPlan, *, is_done: bool
) -> None:
    """Each log is as it was, or the recovery is done."""
    for survivor, former in zip(found, before, strict=True):
        assert is_done or is_before(survivor, former)
        assert survivor.state.data.leader_epoch in (former.state.data.leader_epoch, plan.epoch)


def _check_backups(now: Directories, before: list[Survivor]) -> None:
    """Backups that are there are whole."""
    ends = {former.node_id: (former.end, former.state) for former in before}
    for backup in now.backups():
        copied = read_survivor(backup, now.fs)
        assert (copied.end, copied.state) == ends[copied.node_id]


def _check_after(found: list[Survivor], plan: RecoveryPlan) -> None:
    """The record is the end of the chosen log, and nobody votes in an epoch that was."""
    after = plan_recovery(found)
    assert after.is_done
    assert after.voters == plan.voters
    assert after.chosen.node_id == plan.chosen.node_id
    if not plan.static:
        assert after.chosen.end.offset == plan.chosen.end.offset + 1
    assert all(one.state.data.leader_epoch >= plan.epoch for one in found)
