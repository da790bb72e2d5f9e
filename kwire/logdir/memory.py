"""A file system in memory that loses, in a crash, what was never flushed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class _Content:
    """The bytes of a file: all of them, and how many a crash leaves at least."""

    data: bytearray = field(default_factory=bytearray)
    flushed: bytes = b""


class MemoryFile:
    """An open file of a MemoryFileSystem."""

    def __init__(self, owner: MemoryFileSystem, path: Path, content: _Content) -> None:
        self._owner = owner
        self._path = path
        self._content = content

    def size(self) -> int:
        return len(self._content.data)

    def read(self, position: int, size: int) -> bytes:
        return bytes(self._content.data[position : position + size])

    def append(self, data: bytes) -> None:
        self._owner.check("append", self._path)
        self._content.data += data

    def truncate(self, size: int) -> None:
        self._owner.check("truncate", self._path)
        del self._content.data[size:]

    def flush(self) -> None:
        self._owner.check("flush", self._path)
        self._content.flushed = bytes(self._content.data)

    def close(self) -> None:
        """Nothing is flushed by that."""


class MemoryLock:
    """A lock on a file of a MemoryFileSystem."""

    def __init__(self, locked: set[Path], path: Path) -> None:
        if path in locked:
            raise BlockingIOError(11, "Resource temporarily unavailable", str(path))
        self._locked, self._path = locked, path
        locked.add(path)

    def close(self) -> None:
        self._locked.discard(self._path)


Fault = Callable[[str, Path], None]
"""Called with an operation and its path before it is done; raises OSError to make it fail."""


class MemoryFileSystem:
    """Folders and files in memory; `crash` makes them what a disk would have kept.

    fault: makes operations fail, as a full disk would: create, append, truncate, flush, rename,
    remove.
    """

    def __init__(self, fault: Fault | None = None) -> None:
        self._files: dict[Path, _Content] = {}
        self._durable: dict[Path, _Content] = {}
        self._folders: set[Path] = set()
        self._locked: set[Path] = set()
        self.fault = fault

    def check(self, operation: str, path: Path) -> None:
        """Run the injected fault, which may raise."""
        if self.fault:
            self.fault(operation, path)

    def crash(self, torn: Callable[[Path, bytes], bytes] | None = None) -> None:
        """Lose every name and byte that was not flushed.

        torn: chooses, for a file and its unflushed bytes, what of them reached the disk all the
        same: a part of them, or garbage. Open files must not be used any more.
        """
        self._files = {
            path: self._after(path, content, torn) for path, content in self._durable.items()
        }
        self._durable = dict(self._files)
        self._locked = set()

    @staticmethod
    def _after(
        path: Path, content: _Content, torn: Callable[[Path, bytes], bytes] | None
    ) -> _Content:
        data = content.flushed
        # A disk may have written some of the unflushed bytes, or others in their place. Not if the
        # file was truncated or replaced meanwhile: then the flushed bytes are all that can be told.
        if torn and content.data[: len(data)] == data:
            data += torn(path, bytes(content.data[len(data) :]))
        return _Content(bytearray(data), data)

    def names(self, folder: Path) -> list[str]:
        inside = (path for path in [*self._files, *self._folders] if path.parent == folder)
        return sorted({path.name for path in inside})

    def exists(self, path: Path) -> bool:
        return path in self._files or path in self._folders

    def is_folder(self, path: Path) -> bool:
        return path in self._folders

    def is_file(self, path: Path) -> bool:
        return path in self._files

    def make_folder(self, path: Path) -> None:
        self._folders |= {path, *path.parents}

    def open(self, path: Path, *, write: bool = False) -> MemoryFile:
        if path not in self._files:
            if not write:
                raise FileNotFoundError(2, "No such file", str(path))
            self.check("create", path)
            self._files[path] = _Content()
        return MemoryFile(self, path, self._files[path])

    def read_file(self, path: Path) -> bytes:
        file = self.open(path)
        return file.read(0, file.size())

    def replace_file(self, path: Path, data: bytes) -> None:
        self.check("append", path)
        self.check("flush", path)
        self.check("rename", path)
        self._files[path] = _Content(bytearray(data), data)
        self.flush_folder(path.parent)

    def rename(self, old: Path, new: Path) -> None:
        self.check("rename", old)
        self._files[new] = self._files.pop(old)

    def protect(self, path: Path) -> None:
        """Do nothing: no other user can write to memory."""

    def remove(self, path: Path) -> None:
        self.check("remove", path)
        self._files.pop(path, None)

    def flush_folder(self, path: Path) -> None:
        self.check("flush", path)
        outside = {name: content for name, content in self._durable.items() if name.parent != path}
        inside = {name: content for name, content in self._files.items() if name.parent == path}
        self._durable = outside | inside

    def lock(self, path: Path) -> MemoryLock:
        self.open(path, write=True)
        return MemoryLock(self._locked, path)
