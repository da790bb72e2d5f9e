"""Private files whatever the umask; files that somebody else could change are found."""

import grp
import logging
import os
import pwd
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kwire import permissions
from kwire.permissions import (
    changeable_by_others,
    create_private,
    make_private_folder,
    open_private,
    readable_by_all,
    replace_private,
    warn_if_readable,
    write_private,
)
from tests.support.file_permissions import mode_of, reachable_folder, umask

UMASKS = pytest.mark.parametrize("mask", [0o000, 0o022, 0o077], ids="{:03o}".format)
STRANGER = 54321
"""The number of another user, and of another group."""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    with reachable_folder() as folder:
        yield folder


@UMASKS
def test_a_new_file_is_private(tmp_path: Path, mask: int) -> None:
    with umask(mask):
        os.close(create_private(tmp_path / "one"))
        os.close(create_private(tmp_path / "shared", mode=0o640))
        write_private(tmp_path / "text", "ü")
        make_private_folder(tmp_path / "above" / "folder")
    assert mode_of(tmp_path / "one") == mode_of(tmp_path / "text") == 0o600
    assert mode_of(tmp_path / "shared") == 0o640
    assert mode_of(tmp_path / "above") == mode_of(tmp_path / "above" / "folder") == 0o700
    assert (tmp_path / "text").read_bytes() == b"\xc3\xbc"


def test_a_file_is_never_made_over_another(tmp_path: Path) -> None:
    target = tmp_path / "target"
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(FileExistsError):
        create_private(tmp_path / "link")
    assert not target.exists()


def test_a_file_that_was_open_becomes_private_before_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_text("longer than the new text")
    path.chmod(0o644)
    with open_private(path) as file:
        assert (mode_of(path), path.stat().st_size) == (0o600, 0)
        file.write(b"new")
    assert path.read_bytes() == b"new"


def test_a_file_system_without_permissions_takes_new_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAT refuses a chmod of one's own file."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", refuse)
    for text in ("text", "other"):
        write_private(tmp_path / "new", text)
        assert (tmp_path / "new").read_text() == text


def test_a_file_of_another_user_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by root either, who could: the owner would read it."""
    path = tmp_path / "laid-out"
    path.write_text("text")
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    with pytest.raises(PermissionError, match="It belongs to another user"):
        write_private(path, "secret")
    assert path.read_text() == "text"


def test_a_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o644)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_private(pipe, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert mode_of(pipe) == 0o644


def test_a_file_that_cannot_be_replaced_is_named_and_stays(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "page.html"
    with pytest.raises(FileNotFoundError) as failed:
        replace_private(missing, b"page")
    assert failed.value.filename == str(missing)
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(IsADirectoryError) as refused:
        replace_private(folder, b"page")
    assert refused.value.filename == str(folder)
    assert list(tmp_path.iterdir()) == [folder]


def test_folders_that_are_there_stay_as_they_are(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path)
    assert mode_of(tmp_path) == 0o755
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_private_folder(tmp_path / "file")


def test_files_of_ones_own_are_trusted(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.touch(0o644)
    assert changeable_by_others(script) is None
    assert changeable_by_others(Path(os.devnull).parent) is None
    assert changeable_by_others(tmp_path / "missing") is None


# The rules of OpenSSH: StrictModes of sshd_config(5), safe_path() of misc.c.
@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        (0o646, "can be written by every user of this machine: chmod go-w"),
        (0o664, "can be written by its group: chmod g-w"),
    ],
)
def test_a_file_that_others_may_write_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, reason: str
) -> None:
    monkeypatch.setattr(grp, "getgrgid", _group("staff", "alice"))
    script = tmp_path / "script.py"
    script.touch()
    script.chmod(mode)
    assert changeable_by_others(script) == f"{script} {reason} {script}"


def test_a_folder_above_that_others_may_write_is_not(tmp_path: Path) -> None:
    above = tmp_path / "shared"
    script = above / "own" / "script.py"
    script.parent.mkdir(parents=True)
    script.touch()
    above.chmod(0o777)
    text = f"{above}, by which {script} is reached, can be written by every user of this machine"
    assert changeable_by_others(script) == f"{text}: chmod go-w {above}"
    above.chmod(0o1777)  # as /tmp
    assert changeable_by_others(script) is None


def test_a_link_is_followed_and_checked_itself(tmp_path: Path) -> None:
    shared, own = tmp_path / "shared", tmp_path / "own"
    for folder in (shared, own):
        folder.mkdir()
    script = own / "script.py"
    script.touch()
    link = shared / "link.py"
    link.symlink_to(script)
    assert changeable_by_others(link) is None
    shared.chmod(0o777)
    assert str(changeable_by_others(link)).startswith(f"{shared}, by which {link} is reached")
    shared.chmod(0o755)
    own.chmod(0o777)
    assert str(changeable_by_others(link)).startswith(f"{own}, by which {link} is reached")


@pytest.mark.parametrize("what", ["script.py", "."])
def test_the_owner_is_the_user_or_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    script = tmp_path / "script.py"
    script.touch()
    real = Path.lstat

    def lstat(path: Path) -> os.stat_result:
        status = real(path)
        if path != (tmp_path / what):
            return status
        return os.stat_result((*status[:4], STRANGER, *status[5:]))

    monkeypatch.setattr(Path, "lstat", lstat)
    reason = str(changeable_by_others(script))
    assert f"belongs to user {STRANGER}, who could change it: chown it" in reason
    assert str(script) in reason


def test_a_read_only_mount_is_nobodys_to_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.py"
    script.touch()
    script.chmod(0o666)
    real = os.statvfs(script)
    flags = real.f_flag | os.ST_RDONLY
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*real[:8], flags, real[9])))
    assert changeable_by_others(script) is None


# Debian's openssh, user-group-modes.patch: with a umask of 002 each user has a group of her own.
@pytest.mark.parametrize(
    ("name", "members", "is_trusted"),
    [("me", [], True), ("me", ["me"], True), ("me", ["eve"], False), ("users", [], False)],
)
def test_a_group_of_the_user_alone_is_trusted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    members: list[str],
    is_trusted: bool,
) -> None:
    script = tmp_path / "script.py"
    script.touch()
    script.chmod(0o664)
    me = pwd.struct_passwd(("me", "x", os.geteuid(), script.stat().st_gid, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: me)
    monkeypatch.setattr(grp, "getgrgid", _group(name, *members))
    assert (changeable_by_others(script) is None) is is_trusted


def _group(name: str, *members: str) -> Callable[[int], grp.struct_group]:
    return lambda number: grp.struct_group((name, "x", number, list(members)))


def test_every_user_reads_what_is_open_and_reached(open_folder: Path) -> None:
    secret = open_folder / "secret"
    secret.touch()
    secret.chmod(0o644)
    sentence = f"{secret} holds secrets, and every user of this machine can read it"
    assert readable_by_all(secret) == f"{sentence}: chmod o-r {secret}"
    secret.chmod(0o640)  # as Kafka's own files, of root and the group kafka
    assert readable_by_all(secret) is None
    secret.chmod(0o644)
    open_folder.chmod(0o700)
    assert readable_by_all(secret) is None
    assert readable_by_all(open_folder / "missing") is None


def test_a_warning_comes_once(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(permissions, "_warned", set())
    secret = open_folder / "secret"
    secret.touch()
    secret.chmod(0o644)
    for _ in range(3):
        warn_if_readable(secret)
    assert [(record.levelno, record.message) for record in caplog.records] == [
        (logging.WARNING, readable_by_all(secret))
    ]


def test_nothing_is_checked_where_permissions_are_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.py"
    script.touch()
    script.chmod(stat.S_IRWXU | stat.S_IRWXO)
    monkeypatch.delattr(os, "geteuid")
    monkeypatch.delattr(os, "fchmod")
    assert changeable_by_others(script) is readable_by_all(script) is None
    write_private(tmp_path / "text", "text")
