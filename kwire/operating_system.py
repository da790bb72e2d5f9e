"""POSIX and Windows: their differences in one place: reading at a position, folders, signals.

Names that only POSIX has are looked up when they are needed, so that every module can be imported
everywhere.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

BINARY = getattr(os, "O_BINARY", 0)
"""Flag of `os.open` without which Windows changes line ends."""

_seeking = Lock()


def read_at(file: int, size: int, position: int) -> bytes:
    """Return at most `size` bytes from `position`; the position of the file may change."""
    if hasattr(os, "pread"):
        return os.pread(file, size, position)
    with _seeking:
        os.lseek(file, position, os.SEEK_SET)
        return os.read(file, size)


def write_at(file: int, data: bytes | memoryview, position: int) -> int:
    """Write at `position` and return how many bytes; the position of the file may change."""
    if hasattr(os, "pwrite"):
        return os.pwrite(file, data, position)
    with _seeking:
        os.lseek(file, position, os.SEEK_SET)
        return os.write(file, data)


def flush_folder(path: Path) -> None:
    """Return when the names in a folder are on the disk.

    Windows cannot flush a folder; Kafka leaves it out there, too (Utils.flushDir).
    """
    if not hasattr(os, "O_DIRECTORY"):
        return
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def remove_file(path: Path) -> None:
    """Remove a file, a read-only one too, which Windows refuses; nothing where there is none."""
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        path.chmod(0o600)
        path.unlink(missing_ok=True)


def on_signal(names: tuple[str, ...], callback: Callable[[], object]) -> bool:
    """Call back in the running loop at each of these signals; False where the system has none.

    Windows' loops have no signal handlers; Python's own wake them there.
    """
    import asyncio  # imported here: the codec imports this module, and needs no event loop

    loop = asyncio.get_running_loop()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    for number in numbers:
        try:
            loop.add_signal_handler(number, callback)
        except NotImplementedError:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(callback))
    return bool(numbers)


def hold_file(file: int) -> bool:
    """Lock a file until it is closed; return False if it is open and locked already.

    Unlike that of `lock_file` this lock is also one against this process (flock(2)). True where
    there are no such locks.
    """
    try:
        import fcntl
    except ImportError:  # Windows does not rename or remove a file that is open
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def is_held(path: Path) -> bool:
    """Return True if somebody has a file open and holds it."""
    file = os.open(path, os.O_RDONLY | BINARY)
    try:
        return not hold_file(file)
    finally:
        os.close(file)


def open_files_limit() -> int | None:
    """Return how many files this process may have open; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def raise_open_files_limit(wanted: int) -> None:
    """Let this process open as many files, as far as the system allows it without rights."""
    limit = open_files_limit()
    if limit is None or limit >= wanted:
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    # macOS names no hard limit, and refuses one above that of its kernel.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


TERMINATION = ("SIGTERM", "SIGBREAK")
"""Signals that ask for an orderly end. SIGBREAK is Ctrl-Break, the only other one of Windows."""


def lock_file(file: int) -> None:
    """Lock a file against other processes until it is closed; OSError where one has the lock.

    It is the lock that Java's FileChannel.tryLock takes: a POSIX record lock, which is not the one
    of flock(2), or on Windows a locked region.
    """
    try:
        import fcntl
    except ImportError:
        msvcrt: Any = import_module("msvcrt")
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
