"""Moves the rows of a batch into the tables once, at whatever point the job is killed.

1. They are written below FOLDER, which readers of tables pass over, into a folder of this attempt.
2. One small file lists them, renamed into place: from then on they belong to the tables.
3. They are moved to their tables; a file that was moved before is no longer there.

Spark repeats a batch after a crash: before 2 it is written anew, behind 2 only step 3 is repeated.
Spark's own file sink would not do: its log hides rows that `ingest` adds (docs/decisions/0024).
"""

from __future__ import annotations

from pathlib import PurePosixPath
from uuid import uuid4

import fsspec
import msgspec

from kwire.errors import LocalError
from kwire.pipeline.schemas import TABLES

FOLDER = "_stream"
"""The folder beside the tables with Spark's checkpoint, rows on their way, and rows that wait."""

CHECKPOINT = "checkpoint"
_LAST = "last.json"


class OutOfStep(LocalError):
    """The tables and the checkpoint do not belong together."""


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """A batch that belongs to the tables.

    number: Spark's. folder: where it was written. seen_us: the latest time in it and all before it,
    in microseconds of Unix time, 0 before there is any. files: below its folder, and below that of
    the tables alike.
    """

    number: int
    folder: str
    seen_us: int = 0
    files: tuple[str, ...] = ()


class Publisher:
    """Moves batches to the tables in a folder, or a URL. Raises the errors of its file system."""

    def __init__(self, output: str) -> None:
        self._files, self._tables = fsspec.core.url_to_fs(output)
        self._own = f"{self._tables}/{FOLDER}"
        self._files.makedirs(self._own, exist_ok=True)

    def last(self) -> Batch | None:
        """Return the latest batch that belongs to the tables; its files may not be moved yet."""
        path = f"{self._own}/{_LAST}"
        if not self._files.exists(path):
            return None
        return msgspec.json.decode(self._files.cat_file(path), type=Batch)

    def attempt(self, number: int) -> str:
        """Return a new folder for a batch; remove its earlier attempts. Raises OutOfStep."""
        last = self.last()
        before = -1 if last is None else last.number
        # Spark numbers batches one by one. Other numbers are of another checkpoint, which may have
        # read rows that are in the tables, or passed rows that are not.
        if number != before + 1:
            raise OutOfStep(
                f"{self._own} is at batch {before}, and Spark at {number}: restore the checkpoint"
                " in it, or make the tables anew in another folder."
            )
        folders_to_keep = () if last is None else (last.folder,)
        self._remove("batch-", *folders_to_keep)
        # Lists that a crash left between their writing and the renaming.
        self._remove(f"{_LAST}-")
        # 1.
        return f"batch-{number}-{uuid4().hex}"

    def discard(self, folder: str) -> None:
        """Remove a folder that no table needs any more."""
        self._files.rm(f"{self._own}/{folder}", recursive=True)

    def publish(self, batch: Batch) -> None:
        """Make the files in the batch's folder part of the tables."""
        # 2.
        decided = msgspec.structs.replace(batch, files=tuple(self._found(batch.folder)))
        path = f"{self._own}/{_LAST}"
        # Renamed, so that there is always a whole list: the last one or this one.
        written = f"{path}-{batch.folder}"
        self._files.pipe_file(written, msgspec.json.encode(decided))
        self._files.mv(written, path)
        # 3.
        self.move(decided)

    def move(self, batch: Batch) -> None:
        """Move the files of a batch that are not moved yet."""
        for name in batch.files:
            here, there = f"{self._own}/{batch.folder}/{name}", f"{self._tables}/{name}"
            if self._files.exists(here):
                self._files.makedirs(str(PurePosixPath(there).parent), exist_ok=True)
                self._files.mv(here, there)

    def _found(self, folder: str) -> list[str]:
        root = f"{self._own}/{folder}"
        names = [path.removeprefix(f"{root}/") for path in self._files.find(root)]
        return sorted(
            name for name in names if name.endswith(".parquet") and _table(name) in TABLES
        )

    def _remove(self, prefix: str, *folders_to_keep: str) -> None:
        for path in self._files.ls(self._own, detail=False):
            name = PurePosixPath(path).name
            if name.startswith(prefix) and name not in folders_to_keep:
                self._files.rm(path, recursive=True)


def _table(file: str) -> str:
    return file.partition("/")[0]
