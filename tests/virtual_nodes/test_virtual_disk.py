"""The disk of a virtual machine loses what was not flushed, and nothing else."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from virtual_nodes.virtual_disk import VirtualDisk

FOLDER = Path("/data")
LOG = FOLDER / "log"
SEEDS = range(200)


def disk(seed: int = 1) -> VirtualDisk:
    made = VirtualDisk(Random(seed), lambda seconds: None)
    made.make_folder(FOLDER)
    return made


def after_power_cuts(write: Callable[[VirtualDisk], object]) -> set[bytes | None]:
    """Return every content of the log that a power cut has left, None for no file."""
    contents: set[bytes | None] = set()
    for seed in SEEDS:
        written = disk(seed)
        write(written)
        found = written.after_power_cut()
        contents.add(found.read_file(LOG) if found.exists(LOG) else None)
    return contents


def flushed_then_appended(written: VirtualDisk) -> None:
    file = written.open(LOG, write=True)
    file.append(b"abc")
    file.flush()
    written.flush_folder(FOLDER)
    file.append(b"def")


def test_a_power_cut_loses_any_end_of_what_was_not_flushed() -> None:
    contents = after_power_cuts(flushed_then_appended)
    assert {b"abc", b"abcd", b"abcde", b"abcdef", b"abc\0"} <= contents
    assert all(content and content.startswith(b"abc") for content in contents)


def test_a_file_whose_folder_was_not_flushed_may_be_gone() -> None:
    def write(written: VirtualDisk) -> None:
        file = written.open(LOG, write=True)
        file.append(b"abc")
        file.flush()

    assert after_power_cuts(write) == {None, b"abc"}


def test_a_rename_without_a_flush_of_the_folder_may_be_lost() -> None:
    def write(written: VirtualDisk) -> None:
        written.replace_file(LOG, b"old")
        file = written.open(FOLDER / "new", write=True)
        file.append(b"new")
        file.flush()
        written.rename(FOLDER / "new", LOG)

    assert after_power_cuts(write) == {b"old", b"new"}


def test_a_replaced_file_is_on_the_disk() -> None:
    assert after_power_cuts(lambda written: written.replace_file(LOG, b"x")) == {b"x"}


def test_a_killed_process_loses_nothing_and_its_last_writes_do_not_count() -> None:
    before = disk()
    flushed_then_appended(before)
    before.lock(FOLDER / ".lock")
    after = before.after_kill()
    before.open(LOG, write=True).append(b"by a dead process")
    assert after.read_file(LOG) == b"abcdef"
    after.lock(FOLDER / ".lock")
    with pytest.raises(BlockingIOError):
        after.lock(FOLDER / ".lock")


def test_a_full_disk_takes_a_part_of_a_write() -> None:
    sizes = set()
    for seed in SEEDS:
        full = disk(seed)
        file = full.open(LOG, write=True)
        full.is_full = True
        with pytest.raises(OSError, match="No space left"):
            file.append(b"abc")
        sizes.add(file.size())
    assert sizes == {0, 1, 2, 3}


def test_a_failed_fsync_brings_nothing_to_the_disk() -> None:
    failing = disk()
    flushed_then_appended(failing)
    failing.fsync_fails = True
    with pytest.raises(OSError, match="Input/output"):
        failing.open(LOG, write=True).flush()
    assert failing.errors == 1
    with pytest.raises(OSError, match="Input/output"):
        failing.replace_file(FOLDER / "quorum-state", b"{}")
    assert not failing.exists(FOLDER / "quorum-state")


def test_a_closed_file_takes_no_more_bytes() -> None:
    file = disk().open(LOG, write=True)
    file.close()
    for write in (file.flush, lambda: file.append(b"a"), lambda: file.truncate(0)):
        with pytest.raises(OSError, match="Bad file descriptor"):
            write()
