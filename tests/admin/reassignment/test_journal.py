"""The journal outlives the process that wrote it, and only one process has it at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from kwire.admin.errors import ReassignmentRefused
from kwire.admin.reassignment.journal import VARIABLE, ThrottleJournal, state_folder
from kwire.admin.reassignment.throttle import ThrottleSetting
from kwire.errors import InvalidValue, StorageFailed
from tests.support.file_permissions import mode_of, umask

SETTING = ThrottleSetting(type=4, name="1", key="leader.rate", value="1000", before=None)


def test_settings_are_read_by_the_next_process(tmp_path: Path) -> None:
    with ThrottleJournal("abc", tmp_path) as journal:
        journal.write([SETTING])
    with ThrottleJournal("abc", tmp_path) as journal:
        assert journal.read() == [SETTING]
        journal.write([])
        assert not journal.read()
        assert not journal.path.exists()


def test_each_cluster_has_its_own(tmp_path: Path) -> None:
    with ThrottleJournal("abc", tmp_path) as one, ThrottleJournal("abd", tmp_path) as other:
        one.write([SETTING])
        assert not other.read()


HOLD = """
import sys
from pathlib import Path
from kwire.admin.errors import ReassignmentRefused
from kwire.admin.reassignment.journal import ThrottleJournal
journal = ThrottleJournal("abc", Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ReassignmentRefused, match="another kwire applies a reassignment"):
            ThrottleJournal("abc", tmp_path)
        holder.kill()
    ThrottleJournal("abc", tmp_path).close()


def test_a_cluster_id_cannot_leave_the_folder(tmp_path: Path) -> None:
    with ThrottleJournal("../../etc/x", tmp_path) as journal:
        assert journal.path.parent == tmp_path


def test_a_journal_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with ThrottleJournal("abc", tmp_path) as journal:
        journal.path.write_text("{")
        with pytest.raises(InvalidValue, match=r"reassignment-abc\.json says which throttle"):
            journal.read()


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_a_journal_is_the_users_alone(tmp_path: Path, mask: int) -> None:
    folder = tmp_path / "state" / "kwire"
    with umask(mask), ThrottleJournal("abc", folder) as journal:
        journal.write([SETTING])
    assert mode_of(folder.parent) == mode_of(folder) == 0o700
    assert {mode_of(path) for path in folder.iterdir()} == {0o600}


def test_a_journal_that_others_could_change_is_not_taken(tmp_path: Path) -> None:
    with ThrottleJournal("abc", tmp_path) as journal:
        journal.write([SETTING])
        for path, mode in ((journal.path, 0o666), (tmp_path, 0o777)):
            before = mode_of(path)
            path.chmod(mode)
            with pytest.raises(InvalidValue, match=f"is not taken: .*chmod go-w {path}"):
                journal.read()
            path.chmod(before)
        assert journal.read() == [SETTING]


def test_the_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert state_folder() == tmp_path
    monkeypatch.delenv(VARIABLE)
    assert state_folder().name


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_is_said_with_the_file_and_loses_nothing(tmp_path: Path) -> None:
    with ThrottleJournal("full", tmp_path) as journal:
        journal.write([SETTING])
        journal.path.with_name(f".{journal.path.name}.new").symlink_to("/dev/full")
        with pytest.raises(StorageFailed, match=r"reassignment-full\.json, cannot be written: No"):
            journal.write([SETTING, SETTING])
        assert journal.read() == [SETTING]
