"""The lock on a log directory, the same that Kafka takes: one process at a time may write there.

It lies on the file .lock, as Java's FileChannel.tryLock takes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

from kwire.errors import InvalidValue
from kwire.logdir.filesystem import DISK, FileSystem

LOCK_FILE = ".lock"


class DirectoryLock:
    """Held from its making to `close`; raise InvalidValue if another process has the directory."""

    def __init__(self, folder: Path, fs: FileSystem = DISK) -> None:
        try:
            self._lock = fs.lock(folder / LOCK_FILE)
        except BlockingIOError as error:
            raise InvalidValue(
                f"another process uses {folder}: stop it first, or take another directory"
            ) from error

    def close(self) -> None:
        """Release the lock on the directory."""
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
