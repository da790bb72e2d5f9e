"""The file operations that log directories need; a simulator can take the place of the disk.

Only what was flushed survives a crash: bytes by `OpenFile.flush`, new, renamed and removed names by
`flush_folder`. `replace_file` does all of it, as Kafka writes its small files.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from kwire import operating_system
from kwire.errors import FileError
from kwire.operating_system import BINARY


class OpenFile(Protocol):
    """A file that grows at its end; every failure is an OSError."""

    def size(self) -> int:
        """Return its size in bytes, flushed or not."""

    def read(self, position: int, size: int) -> bytes:
        """Return at most `size` bytes; fewer at the end."""

    def append(self, data: bytes) -> None:
        """Write at the end."""

    def truncate(self, size: int) -> None:
        """Drop what comes after the first `size` bytes."""

    def flush(self) -> None:
        """fsync: return when the bytes are on the disk."""

    def close(self) -> None:
        """Close the file; nothing is flushed."""


class FileLock(Protocol):
    """A lock on a file, held until it is closed or its process ends."""

    def close(self) -> None:
        """Release the lock."""


class FileSystem(Protocol):
    """The operations of a disk; every failure is an OSError."""

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder, sorted; none where it does not exist."""

    def exists(self, path: Path) -> bool:
        """True if there is a file, a folder, or anything else of that name."""

    def is_folder(self, path: Path) -> bool:
        """True if there is a folder."""

    def is_file(self, path: Path) -> bool:
        """True if there is a file, or a link to one: no folder, pipe, socket or device."""

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it."""

    def open(self, path: Path, *, write: bool = False) -> OpenFile:
        """Open a file; to write, make it if need be."""

    def read_file(self, path: Path) -> bytes:
        """Return the content of a file."""

    def replace_file(self, path: Path, data: bytes) -> None:
        """Write a file whole: beside it, flushed, renamed, its folder flushed."""

    def rename(self, old: Path, new: Path) -> None:
        """Rename, replacing what was there."""

    def protect(self, path: Path) -> None:
        """Make a file read-only."""

    def remove(self, path: Path) -> None:
        """Remove a file; nothing happens where there is none."""

    def flush_folder(self, path: Path) -> None:
        """Return when the names in a folder are on the disk."""

    def lock(self, path: Path) -> FileLock:
        """Lock a file against other processes, and make it if need be.

        Raises BlockingIOError if another process has the lock.
        """


class DiskFile:
    """A file of the disk."""

    def __init__(self, path: Path, write: bool) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND if write else os.O_RDONLY
        self._file = os.open(path, flags | BINARY, 0o644)
        self._path = path

    def size(self) -> int:
        return os.fstat(self._file).st_size

    def read(self, position: int, size: int) -> bytes:
        return operating_system.read_at(self._file, size, position)

    def append(self, data: bytes) -> None:
        # A write may take less than all of it, as on a disk that is nearly full.
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._file, rest) :]

    def truncate(self, size: int) -> None:
        os.ftruncate(self._file, size)

    def flush(self) -> None:
        os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


class DiskLock:
    """A lock of the operating system on a file.

    It is gone with the process that held it, and on POSIX it does not keep a process from itself.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | BINARY, 0o644)
        try:
            operating_system.lock_file(self._file)
        except OSError as error:
            os.close(self._file)
            raise BlockingIOError(error.errno, error.strerror, str(path)) from error

    def close(self) -> None:
        os.close(self._file)


class Disk:
    """The machine's file system."""

    def names(self, folder: Path) -> list[str]:
        return sorted(os.listdir(folder)) if folder.is_dir() else []

    def exists(self, path: Path) -> bool:
        return os.path.lexists(path)

    def is_folder(self, path: Path) -> bool:
        return path.is_dir()

    def is_file(self, path: Path) -> bool:
        return path.is_file()

    def make_folder(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)

    def open(self, path: Path, *, write: bool = False) -> DiskFile:
        return DiskFile(path, write)

    def read_file(self, path: Path) -> bytes:
        return path.read_bytes()

    def replace_file(self, path: Path, data: bytes) -> None:
        # Readers see the old file or the new one, also after a crash: the bytes are flushed before
        # the name changes, the name by the folder's flush (Java: Utils.atomicMoveWithFallback).
        fresh = path.with_name(path.name + ".tmp")
        with suppress(FileNotFoundError):
            fresh.unlink()
        try:
            with fresh.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        self.flush_folder(path.parent)

    def rename(self, old: Path, new: Path) -> None:
        old.replace(new)

    def protect(self, path: Path) -> None:
        path.chmod(0o400)

    def remove(self, path: Path) -> None:
        operating_system.remove_file(path)

    def flush_folder(self, path: Path) -> None:
        operating_system.flush_folder(path)

    def lock(self, path: Path) -> DiskLock:
        return DiskLock(path)


DISK = Disk()


def check_is_file(fs: FileSystem, path: Path) -> None:
    """Raise FileError if something else has the name of a file: a pipe would never be read."""
    if fs.exists(path) and not fs.is_file(path):
        reason = "is a folder, a pipe, a device or a link to nothing where a file should be"
        raise FileError(f"{reason}; move it away, and restore the file", file=path)
