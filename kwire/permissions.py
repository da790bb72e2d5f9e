"""Permissions of files: write private ones, refuse trusted ones that other users could change.

Traffic and secrets are written with `PRIVATE`, whatever the umask. Files that run code, or direct
traffic, are checked as OpenSSH checks its own (StrictModes of sshd_config(5)): a program refuses
them if another user may change them. Windows has other permissions; nothing is checked there.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kwire.operating_system import BINARY, flush_folder

PRIVATE = 0o600
"""Permissions of a file that only its user reads and writes."""

_warned: set[Path] = set()


class Exposure(NamedTuple):
    """An opening of a file to other users. reason: what it is; remedy: what closes it."""

    reason: str
    remedy: str

    @property
    def sentence(self) -> str:
        """Both in one sentence."""
        return f"{self.reason}: {self.remedy}"


def create_private(path: Path, *, mode: int = PRIVATE, flags: int = 0) -> int:
    """Make a file, and return its descriptor, to write. Raises OSError, also if it exists."""
    # Never open to others, not even before `mode` is set: open descriptors outlive a chmod.
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY | flags, PRIVATE)
    _set_mode(file, mode)
    return file


def open_private(path: Path, *, append: bool = False) -> BinaryIO:
    """Open a file to write it anew, or to append to it; one that was there becomes private.

    Raises OSError, also for a file of another user: its owner would read it.
    """
    try:
        file = create_private(path)
    except FileExistsError:
        file = os.open(path, os.O_WRONLY | BINARY)
        try:
            status = os.fstat(file)
            # Not a pipe or a terminal, /dev/stdout for instance.
            if stat.S_ISREG(status.st_mode):
                if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
                    raise PermissionError(errno.EPERM, "It belongs to another user", str(path))
                _set_mode(file, PRIVATE)
                os.ftruncate(file, status.st_size if append else 0)
                os.lseek(file, 0, os.SEEK_END)
        except OSError:
            os.close(file)
            raise
    return os.fdopen(file, "wb")


def write_private(path: Path, text: str) -> None:
    """Write a text of UTF-8 to a private file. Raises OSError."""
    with open_private(path) as file:
        file.write(text.encode())


def replace_private(path: Path, data: bytes) -> None:
    """Return when a private file is on the disk in place of another one. Raises OSError.

    Whatever happens meanwhile, the file is the one before or the new one; nothing else is left.
    """
    draft = path.with_name(f".{path.name}.new")
    try:
        file = open_private(draft)
    except OSError as error:
        error.filename = str(path)  # the name that was asked for
        raise
    try:
        with file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise
    flush_folder(path.parent)


def make_private_folder(path: Path) -> None:
    """Make a folder and those above it that are missing, for its user alone. Raises OSError.

    Folders that are there stay as they are.
    """
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in (*reversed(missing), path):
        folder.mkdir(mode=0o700, exist_ok=True)


def changeable_by_others(path: Path) -> str | None:
    """Return a sentence if another user could change a file; None otherwise."""
    exposure = exposure_to_change(path)
    return None if exposure is None else exposure.sentence


def readable_by_all(path: Path) -> str | None:
    """Return a sentence if every user of this machine can read a file; None otherwise."""
    exposure = exposure_to_readers(path)
    return None if exposure is None else exposure.sentence


def exposure_to_change(path: Path) -> Exposure | None:
    """Return how another user could change a file; None if nobody can.

    1. The file and all folders above it belong to this user or to root.
    2. Nobody else may write them; in a sticky folder, such as /tmp, nobody replaces others' files.

    Where it leads through a symbolic link, both ways are checked. A file that is not there is not
    checked. Files of a read-only mount, such as a container's, are nobody's to change.
    """
    if not hasattr(os, "geteuid"):
        return None
    try:
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            return None
        for way in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):
            for part in (Path(way), *Path(way).parents):
                if exposure := _weakness(part, path):
                    return exposure
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Exposure(f"the permissions of {path} cannot be read", str(error.strerror))
    return None


def exposure_to_readers(path: Path) -> Exposure | None:
    """Return how every user of this machine can read a file with secrets; None if they cannot.

    Its group may: Kafka's files are often of 0640.
    """
    if not hasattr(os, "geteuid"):
        return None
    try:
        real = path.resolve(strict=True)
        is_reached = all(folder.stat().st_mode & stat.S_IXOTH for folder in real.parents)
        if not (is_reached and real.stat().st_mode & stat.S_IROTH and real.is_file()):
            return None
    except OSError:  # whoever reads the file reports it
        return None
    reason = f"{path} holds secrets, and every user of this machine can read it"
    return Exposure(reason, f"chmod o-r {_shell(path)}")


def warn_if_readable(path: Path) -> None:
    """Log a warning if every user of this machine can read a file, once for each file."""
    if path not in _warned and (reason := readable_by_all(path)):
        import logging  # every command imports this module, and few warn

        _warned.add(path)
        # Without a log it goes to stderr as it is.
        logging.getLogger(__name__).warning("%s", reason)


def _shell(path: Path) -> str:
    """Return a path as a shell takes it."""
    from shlex import quote  # every command imports this module, and few need it

    return quote(str(path))


def _set_mode(file: int, mode: int) -> None:
    """Set the permissions of an open file of this user, where there are any."""
    if hasattr(os, "fchmod"):
        # FAT has none, and refuses: whom its mount names can read its files.
        with suppress(PermissionError):
            os.fchmod(file, mode)


def _weakness(part: Path, path: Path) -> Exposure | None:
    """Return how a file could be changed by way of `part`: itself, or a folder above it."""
    status = part.lstat()
    is_itself = str(part) == os.path.abspath(path)
    subject = str(path) if is_itself else f"{part}, by which {path} is reached,"
    if status.st_uid not in (0, os.geteuid()):
        owner = f"belongs to user {status.st_uid}"
        reason = f"{subject} {owner}, who could change it"
        return Exposure(reason, "chown it to yourself or to root")
    # A link has no permissions of its own; a sticky folder protects the files of each user.
    if stat.S_ISLNK(status.st_mode) or status.st_mode & stat.S_ISVTX:
        return None
    if others := _writers(status):
        return Exposure(
            f"{subject} can be written by {others[0]}", f"chmod {others[1]} {_shell(part)}"
        )
    return None


def _writers(status: os.stat_result) -> tuple[str, str] | None:
    """Return who else may write, and what takes it away; None if nobody may."""
    if status.st_mode & stat.S_IWOTH:
        return "every user of this machine", "go-w"
    if status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid):
        return "its group", "g-w"
    return None


def _is_own_group(number: int) -> bool:
    """True for a group of this user alone, as many systems make one for each user.

    There the umask is 002, and files are written by their group (Debian's sshd takes them, too).
    """
    from grp import getgrgid
    from pwd import getpwuid

    try:
        user, group = getpwuid(os.geteuid()), getgrgid(number)
    except KeyError:
        return False
    is_named_so = user.pw_gid == number and user.pw_name == group.gr_name
    return is_named_so and set(group.gr_mem) <= {user.pw_name}
