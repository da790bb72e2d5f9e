"""Runs Python code without what only POSIX systems have, as far as that can be had on one of them.

    python tests/support/portability/without_posix.py [--libraries=NAME,...] CODE [ARGUMENT ...]

The standard library is imported first, and then libraries that choose their own code by the
system's name, since their code for Windows is not what is tested. Then names that Windows lacks are
taken away, event loops refuse signal handlers, folders cannot be opened, open files cannot be
replaced or removed, nor read-only ones, and `msvcrt` locks.
"""

from __future__ import annotations

import asyncio
import concurrent.futures.process
import fcntl
import importlib
import importlib.abc
import logging.handlers
import multiprocessing.connection
import os
import pathlib
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable
from typing import Any

__all__ = ["concurrent", "logging", "multiprocessing", "pathlib", "ssl", "subprocess", "tempfile"]

MODULES = {"fcntl", "termios", "pwd", "grp", "resource", "tty", "pty", "readline", "syslog"}
OS = (
    "O_CLOEXEC O_DIRECT O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_DSYNC O_SYNC chown confstr ctermid"
    " fchdir fchmod fchown fdatasync fork forkpty getegid geteuid getgid getgroups getloadavg"
    " getpgid getuid initgroups killpg lchown mkfifo mknod nice openpty pathconf pipe2"
    " posix_fadvise posix_fallocate posix_spawn pread preadv pwrite pwritev readv sched_getaffinity"
    " sched_setaffinity sched_yield sendfile setpgid setpriority setsid statvfs sync sysconf"
    " tcgetpgrp ttyname uname wait3 wait4 writev"
)
SIGNALS = "ALRM CHLD CONT HUP KILL PIPE QUIT STOP TSTP TTIN TTOU USR1 USR2 WINCH"
SOCKET = "SO_REUSEPORT"
OPTION = "--libraries="


class Missing(importlib.abc.MetaPathFinder):
    """Finds none of the modules."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise as the import of a module that is not there does."""
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def take_away() -> None:
    """Leave this process with what Windows has."""
    locking = fcntl.lockf
    sys.meta_path.insert(0, Missing())
    for name in MODULES:
        sys.modules.pop(name, None)
    for module, names in (
        (os, OS.split()),
        (signal, [f"SIG{name}" for name in SIGNALS.split()]),
        (socket, SOCKET.split()),
    ):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    _windows_files()
    setattr(shutil, "_use_fd_functions", False)  # noqa: B010  # as it finds it on Windows
    setattr(asyncio.SelectorEventLoop, "add_signal_handler", _no_signal_handlers)  # noqa: B010
    msvcrt: Any = types.ModuleType("msvcrt")
    msvcrt.LK_NBLCK = fcntl.LOCK_EX | fcntl.LOCK_NB
    msvcrt.locking = lambda file, mode, size: locking(file, mode, size)
    sys.modules["msvcrt"] = msvcrt


def _no_signal_handlers(*_: Any) -> None:
    raise NotImplementedError


def _windows_files() -> None:
    """Refuse what Windows refuses: its C library opens files without FILE_SHARE_DELETE."""
    real_open, real_stat, real_access = os.open, os.stat, os.path.exists

    def open_(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if real_access(path) and stat.S_ISDIR(real_stat(path).st_mode):
            raise PermissionError(13, "Permission denied", str(path))
        return real_open(path, flags, *rest, **more)

    def guarded(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*paths: Any, **more: Any) -> Any:
            for path in paths:
                if isinstance(path, int) or not real_access(path):
                    continue
                about = real_stat(path)
                read_only = stat.S_ISREG(about.st_mode) and not about.st_mode & stat.S_IWUSR
                if _is_open(about) or (read_only and len(paths) == 1):
                    raise PermissionError(13, "Access is denied", str(path))
            return real(*paths, **more)

        return call

    os.open = open_
    for name in ("replace", "rename", "remove", "unlink"):
        setattr(os, name, guarded(getattr(os, name)))


def _is_open(about: os.stat_result) -> bool:
    """True if this process has the regular file open."""
    if not stat.S_ISREG(about.st_mode):
        return False
    for name in os.listdir("/proc/self/fd"):
        try:
            found = os.fstat(int(name))
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == (about.st_dev, about.st_ino):
            return True
    return False


if __name__ == "__main__":
    if sys.argv[1].startswith(OPTION):
        for library in sys.argv.pop(1).removeprefix(OPTION).split(","):
            if library:
                importlib.import_module(library)
    _, program, *sys.argv[1:] = sys.argv
    take_away()
    exec(compile(program, "<without POSIX>", "exec"), {"__name__": "__main__"})
