"""The lock on a log directory, the same that Kafka takes: one process at a time may write there.

It lies on the file .lock, as Java's FileChannel.tryLock takes it: it is gone with the process that
held it, and on POSIX it does not keep a process from itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from kwire.errors import InvalidValue
from kwire.operating_system import BINARY, lock_file

LOCK_FILE = ".lock"


class DirectoryLock:
    """Held from its making to `close`; raise InvalidValue if another process has the directory."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | BINARY, 0o644)
        try:
            lock_file(self._file)
        except OSError:
            os.close(self._file)
            raise InvalidValue(
                f"another process uses {folder}: stop it first, or take another directory"
            ) from None

    def close(self) -> None:
        """Release the lock on the directory."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
