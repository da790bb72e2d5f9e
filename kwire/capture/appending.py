"""Appends to a file without the system's page cache, which brokers on this machine rely on.

Appended bytes wait in pages of memory until these are full or flushed. O_DIRECT writes them to the
disk as they are (open(2)): address, file offset and size have to be multiples of a page. A last
page that is not full is padded with zeros, which are cut off, and is written again when more is
appended. Without O_DIRECT, as on macOS and some file systems, the pages go through the cache.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from crc32c import crc32c

from kwire.operating_system import hold_file, write_at
from kwire.permissions import PRIVATE, create_private

PAGES = 2 * 1024 * 1024
"""Bytes that are written at once: a huge page, where the same bytes cost a third of the CPU."""

PAGE = 4096

_DIRECT = getattr(os, "O_DIRECT", 0)
_CACHED = 256 * 1024  # bytes that are still in the processor's cache when they were copied


def _copy_and_sum(room: memoryview, part: memoryview, crc: int) -> int:
    for start in range(0, len(part), _CACHED):
        piece = part[start : start + _CACHED]
        room[start : start + _CACHED] = piece
        crc = crc32c(piece, crc)
    return crc


def _fastest_copy() -> Callable[[memoryview, memoryview, int], int]:
    try:
        from kwire.capture.native import SUMS_FAST, copy_summed
    except ImportError:
        return _copy_and_sum
    return copy_summed if SUMS_FAST else _copy_and_sum


copy_summed = _fastest_copy()
"""Copies bytes, and returns their CRC-32C after that of the bytes before them."""


class AppendedFile:
    """A new file that grows, and that is held (`hold_file`) as long as it does.

    mode: its permissions, whatever the umask. written: bytes that are in it for good. Methods raise
    OSError; after that only `cut` and `close` are of use.
    """

    def __init__(self, path: Path, mode: int = PRIVATE) -> None:
        self._file = _open(path, mode)
        hold_file(self._file)
        self._pages = _memory()
        self._filled = 0
        self._start = 0
        self.written = 0

    def append(self, data: bytes) -> None:
        """Take bytes, and write what fills all pages."""
        for room, part in self._parts(data):
            room[:] = part

    def append_summed(self, data: bytes, crc: int) -> int:
        """Take bytes; return their CRC-32C after that of the bytes before them."""
        for room, part in self._parts(data):
            crc = copy_summed(room, part, crc)
        return crc

    def _parts(self, data: bytes) -> Iterator[tuple[memoryview, memoryview]]:
        """Yield room for bytes, and the bytes to put there; then write what fills all pages."""
        rest = memoryview(data)
        while rest:
            part = rest[: PAGES - self._filled]
            end = self._filled + len(part)
            with memoryview(self._pages) as pages, pages[self._filled : end] as room:
                yield room, part
            self._filled, rest = end, rest[len(part) :]
            if end == PAGES:
                self._write(PAGES)
                self._start, self._filled = self._start + PAGES, 0

    def flush(self) -> None:
        """Write what waits."""
        end = self._start + self._filled
        if self.written == end:
            return
        full_pages, over = divmod(self._filled, PAGE)
        # Zeros fill the last page, since O_DIRECT writes whole pages; `cut` takes them off again.
        if over:
            self._pages[self._filled : (full_pages + 1) * PAGE] = bytes(PAGE - over)
        self._write((full_pages + bool(over)) * PAGE)
        self.cut(end)
        self._start += full_pages * PAGE
        # The page that is not full moves to the front: it is written again when it goes on.
        self._pages[:over] = self._pages[full_pages * PAGE : self._filled]
        self._filled = over

    def cut(self, size: int) -> None:
        """Keep only so many bytes."""
        os.ftruncate(self._file, size)
        self.written = size

    def close(self) -> None:
        """Write no more; what waits is lost."""
        os.close(self._file)
        self._pages.close()

    def _write(self, size: int) -> None:
        with memoryview(self._pages) as pages:
            done = 0
            while done < size:
                with pages[done:size] as rest:  # an error keeps a view that is not released
                    done += write_at(self._file, rest, self._start + done)
                self.written = max(self.written, self._start + done)


def _memory() -> mmap.mmap:
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return mmap.mmap(-1, PAGES)
    pages = mmap.mmap(-1, PAGES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel without huge pages
        pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


def _open(path: Path, mode: int) -> int:
    try:
        return create_private(path, mode=mode, flags=_DIRECT)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        # what refuses O_DIRECT may have made the file before that
        path.unlink(missing_ok=True)
        return create_private(path, mode=mode)
