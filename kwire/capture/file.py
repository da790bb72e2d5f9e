"""Writes captures: one file, or files that follow each other in a directory.

A file that is being written has a hidden name, which Spark and others skip; it gets its final name
when it is complete.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Self

from kwire.capture.appending import AppendedFile
from kwire.capture.avro import long_bytes, writer
from kwire.capture.encoding import EncodedRecords, OpenRecord
from kwire.capture.schema import (
    CRC_SIZE,
    HEADER,
    MAGIC,
    SCHEMA,
    SECRETS_KEY,
    SECRETS_SHOWN,
    SYNC_SIZE,
    VERSION,
    VERSION_KEY,
)
from kwire.errors import LocalError
from kwire.permissions import PRIVATE

BLOCK_SIZE = 256 * 1024
"""Bytes of records from which on a block is written."""

FILE_SIZE = 256 * 1024 * 1024
"""Bytes from which on the next file of a directory begins, by default."""

FILE_SECONDS = 3600.0
"""Seconds after which the next file of a directory begins, by default."""


Encoded = bytes | OpenRecord | EncodedRecords
"""A record as it is encoded, one that gets its CRC while it is written, or several."""


class CannotRecord(LocalError):
    """A capture cannot be written where it should be."""


def hidden(path: Path) -> Path:
    """Return the name of a capture that is being written."""
    return path.with_name(f".{path.name}.part")


class CaptureFile:
    """One capture file while it is written.

    mode: permissions, whatever the umask. shows_secrets: True if its records may hold secrets.
    size: bytes of whole blocks. waiting: bytes of records that are in no block yet. A crash loses
    what was not flushed. Methods raise OSError, after which only `close` may be called: it keeps
    the blocks that are whole in the file.
    """

    def __init__(
        self,
        path: Path,
        schema: object = SCHEMA,
        version: int = VERSION,
        *,
        mode: int = PRIVATE,
        shows_secrets: bool = False,
    ) -> None:
        self.path = path
        self._hidden = hidden(path)
        if path.exists():
            raise CannotRecord(f"{path} exists already: choose another name or remove it.")
        if self._hidden.exists():
            raise CannotRecord(
                f"{self._hidden} is being written, or was left by a process that was killed: choose"
                f" another name, or put what is in it into another file with `kwire capture repair"
                f" {self._hidden} --out FILE` and remove it."
            )
        # Random in each file (Avro specification): a recorded frame cannot contain it by chance.
        self._sync = os.urandom(SYNC_SIZE)
        self._block: list[bytes | OpenRecord] = []
        self._failed = False
        self._file = AppendedFile(self._hidden, mode)
        self._count = self._kept = self._start = self.size = self.waiting = 0
        self._ends: deque[int] = deque()
        try:
            header = _header(schema, version, self._sync, shows_secrets=shows_secrets)
            self._append([header], len(header))
            self.flush()
        except OSError:
            self.discard()
            raise
        self._start = self.size

    @property
    def empty(self) -> bool:
        """True if no record was added."""
        return not self._block and self.size == self._start

    def write(self, *records: Encoded) -> None:
        """Add encoded records, which stay in one block."""
        for record in records:
            match record:
                case EncodedRecords(data, records_in_data):
                    self._add(data, len(data), records_in_data)
                case OpenRecord():
                    self._add(record, sum(map(len, record)) + CRC_SIZE)
                case _:
                    self._add(record, len(record))
        if self.waiting >= BLOCK_SIZE:
            self._end_block()

    def flush(self) -> None:
        """Write what waits, as a block."""
        self._end_block()
        with self._failing():
            self._file.flush()

    def close(self) -> None:
        """Give the file its name; after an error with the blocks that are whole.

        A file without a record is removed.
        """
        try:
            if not self._failed:
                self.flush()
        finally:
            self._look()
            # After a failed write the file may end in the middle of a block: only whole ones stay.
            with suppress(OSError):
                self._file.cut(self._kept)
            self._file.close()
            # A header without records is no capture: commands that report a file would name an
            # empty one.
            if self._kept > self._start:
                self._hidden.rename(self.path)
            else:
                self._hidden.unlink()

    def discard(self) -> None:
        """Remove the file instead."""
        self._file.close()
        self._hidden.unlink()

    def _add(self, piece: bytes | OpenRecord, size: int, records: int = 1) -> None:
        self._block.append(piece)
        self.waiting += size
        self._count += records

    def _end_block(self) -> None:
        if self._block:
            head = long_bytes(self._count) + long_bytes(self.waiting)
            pieces = (head, *self._block, self._sync)
            size = len(head) + self.waiting + len(self._sync)
            self._block.clear()
            self._count = self.waiting = 0
            self._append(pieces, size)

    def _append(self, pieces: Iterable[bytes | OpenRecord], size: int) -> None:
        with self._failing():
            short: list[bytes] = []
            for piece in pieces:
                if isinstance(piece, bytes):
                    short.append(piece)
                    continue
                self._file.append(b"".join(short))
                short.clear()
                self._append_open(piece)
            self._file.append(b"".join(short))
        self.size += size
        self._ends.append(self.size)
        self._look()

    def _append_open(self, record: OpenRecord) -> None:
        crc = 0
        for piece in record:
            crc = self._file.append_summed(piece, crc)
        self._file.append(crc.to_bytes(CRC_SIZE, "big"))

    def _look(self) -> None:
        """See which blocks are in the file."""
        while self._ends and self._ends[0] <= self._file.written:
            self._kept = self._ends.popleft()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            self._failed = True
            raise


class CaptureFiles:
    """Captures that follow each other: the next file begins by size, in bytes, or age, in seconds.

    name: gives the path of the next file. now: seconds of any clock that never steps. mode,
    shows_secrets: of each file.
    """

    def __init__(
        self,
        name: Callable[[int], Path],
        *,
        now: float,
        size: float = FILE_SIZE,
        seconds: float = FILE_SECONDS,
        mode: int = PRIVATE,
        shows_secrets: bool = False,
    ) -> None:
        self._name = name
        self._size = size
        self._seconds = seconds
        self._mode = mode
        self._shows_secrets = shows_secrets
        self._opened = now
        self._flushed = now
        self._file: CaptureFile | None = self._open(name(0))
        self.paths = [self._file.path]

    @classmethod
    def single(cls, path: Path, *, mode: int = PRIVATE, shows_secrets: bool = False) -> Self:
        """Return a single file, however long it gets."""
        return cls(
            lambda number: path,
            now=0.0,
            size=inf,
            seconds=inf,
            mode=mode,
            shows_secrets=shows_secrets,
        )

    @classmethod
    def numbered(
        cls,
        directory: Path,
        stamp: str,
        *,
        now: float,
        size: float = FILE_SIZE,
        seconds: float = FILE_SECONDS,
        mode: int = PRIVATE,
        shows_secrets: bool = False,
    ) -> Self:
        """Files in a directory: `capture-STAMP-00000.avro` and on."""
        return cls(
            lambda number: directory / f"capture-{stamp}-{number:05}.avro",
            now=now,
            size=size,
            seconds=seconds,
            mode=mode,
            shows_secrets=shows_secrets,
        )

    @property
    def name(self) -> str:
        """The path of the latest file."""
        return str(self.paths[-1])

    def write(self, now: float, *records: Encoded) -> None:
        """Add encoded records, which stay in one file; raises OSError, CannotRecord."""
        self._current(now).write(*records)

    def tick(self, now: float, flush_after: float) -> None:
        """Write what has waited too long, and end a file that is old enough."""
        file = self._file
        if file is None:
            return
        if now - self._opened >= self._seconds:
            self._end()
        elif now - self._flushed >= flush_after:
            self._flushed = now
            file.flush()

    def close(self) -> None:
        """End the file that is being written."""
        self._end()

    def _current(self, now: float) -> CaptureFile:
        file = self._file
        if file is not None and not file.empty and file.size + file.waiting >= self._size:
            self._end()
            file = None
        if file is None:
            file = self._file = self._open(self._name(len(self.paths)))
            self.paths.append(file.path)
            self._opened = self._flushed = now
        return file

    def _open(self, path: Path) -> CaptureFile:
        return CaptureFile(path, mode=self._mode, shows_secrets=self._shows_secrets)

    def _end(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


def _header(schema: object, version: int, sync: bytes, *, shows_secrets: bool) -> bytes:
    meta = {
        "avro.schema": json.dumps(schema).encode(),
        "avro.codec": b"null",
        VERSION_KEY: str(version).encode(),
    }
    if shows_secrets:
        meta[SECRETS_KEY] = SECRETS_SHOWN
    return writer(HEADER)({"magic": MAGIC, "meta": meta, "sync": sync})


def begins_header(data: bytes) -> bool:
    """True for a header of the current version, or its first bytes."""
    for shows_secrets in (False, True):
        header = _header(SCHEMA, VERSION, bytes(SYNC_SIZE), shows_secrets=shows_secrets)
        fixed = header[:-SYNC_SIZE]
        if len(data) <= len(header) and data[: len(fixed)] == fixed[: len(data)]:
            return True
    return False
