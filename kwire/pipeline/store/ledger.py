"""The ledger: decides which ingests belong to the tables, each as a whole.

A commit of Delta is of one table, and an ingest is of many. So the table `sources` decides:

1. The files of all tables are written where they stay. No commit names them yet.
2. A list of them, with what it is for, is written to `_ingests/<id>.json`.
3. Rows for the ingest are committed to `sources`, for its next version alone: if another ingest was
   first, look again whether something of this one has come into the tables meanwhile. This commit
   is the decision.
4. The files are committed to each table, unless a commit of this ingest is there already.
5. A row for the ingest, COMPLETE, is committed to `sources`: other programs, which read one table
   after the other, take only such ingests.
6. The list is removed.

Whoever comes next takes steps 4 to 6 for an ingest that was decided and not finished; one that was
not decided is as if it had never been. Readers do so, too, and begin anew if `sources` has changed
while they opened the tables: they never see an ingest in one table and not in another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any
from uuid import uuid4

import fsspec
import msgspec
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from kwire.errors import LocalError
from kwire.pipeline.schemas import TABLES
from kwire.pipeline.store.delta import (
    TRIES,
    CannotCommit,
    add_action,
    append,
    has_ingest,
    open_table,
    try_append,
    writable_table,
)
from kwire.pipeline.store.files import TableFile, TableFiles
from kwire.pipeline.store.location import Location, modified
from kwire.pipeline.store.sources import BATCH, Stretch, completed, source_rows

SOURCES = "sources"
FOLDER = "_ingests"
"""The folder beside the tables with the lists of ingests that are not finished."""

IN_WORK = "in-work"
"""The file in the staging folder of an ingest that has not failed, see `kwire.pipeline.writing`."""

MANY = 100
"""Files of `sources`, one for each ingest, from which on they are written as one."""

ID = re.compile("[0-9a-f]{32}")

NONE = -1
"""The version of a table that is not there."""

LedgerRow = dict[str, Any]
"""A row of `sources`."""

OPENINGS = 20
"""Times that a reader begins anew because the tables change; each takes a fraction of a second."""


class Busy(LocalError):
    """Others change the tables all the time."""


class Overtaken(Exception):
    """Another ingest has brought rows of the same sources meanwhile: nothing was decided."""


class Ingest(msgspec.Struct, kw_only=True):
    """An ingest: the files that it adds to tables, and the stretches that they have."""

    id: str
    tables: list[str]
    files: list[TableFile]
    stretches: list[Stretch]


def new_id() -> str:
    """Return an id for an ingest."""
    return uuid4().hex


def is_id(name: str) -> bool:
    """Return True for a name that `new_id` may have made; kwire removes no other files."""
    return ID.fullmatch(name) is not None


class Ledger:
    """The ledger of the tables in one location. Raises CannotCommit, TableUnusable."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self._version = NONE
        self._read: dict[str, list[LedgerRow]] = {}
        self._by_source: dict[tuple[str, str], list[LedgerRow]] = {}

    def look(self) -> None:
        """Read what is in the tables, and finish what others began: all of it is in them then."""
        table = open_table(self.location, SOURCES)
        # Behind the look at `sources`: whatever it has is then in the tables, too.
        self.finish_all()
        if table is not None:
            self._take(table)

    def known(self, stretches: Iterable[Stretch]) -> list[LedgerRow]:
        """Return the rows of `sources`, as `look` found them, that could have a row of these."""
        found: dict[int, LedgerRow] = {}
        for stretch in stretches:
            for row in self._by_source.get((stretch.kind, stretch.source), ()):
                if stretch.first <= row["last"] and row["first"] <= stretch.last:
                    found[id(row)] = row
        return list(found.values())

    def batch(self, query: str, number: int) -> LedgerRow | None:
        """Return the row of a batch of a stream; None if it was not decided."""
        rows = self._by_source.get((BATCH, query), ())
        return next((row for row in rows if row["first"] == number), None)

    def latest_batch(self) -> LedgerRow | None:
        """Return the row of the batch that came last, of any stream."""
        rows = [
            row for (kind, _), found in self._by_source.items() if kind == BATCH for row in found
        ]
        return max(rows, key=lambda row: (row["ingested_at"], row["first"]), default=None)

    def last_batches(self) -> dict[str, int]:
        """Return the number of the last batch of each stream, by its query."""
        return {
            source: max(row["first"] for row in rows)
            for (kind, source), rows in self._by_source.items()
            if kind == BATCH
        }

    def _take(self, table: DeltaTable) -> None:
        """Read the files of `sources` that were not read before: a stream looks all day long."""
        if table.version() == self._version:
            return
        there = table.file_uris()
        rows = {path: self._read[path] if path in self._read else _rows(path) for path in there}
        self._read, self._version = rows, table.version()
        self._by_source = {}
        for row in (row for of_file in rows.values() for row in of_file):
            self._by_source.setdefault((row["kind"], row["source"]), []).append(row)

    def publish(self, ingest: Ingest) -> None:
        """Make the files of an ingest part of the tables.

        Raises Overtaken if the ledger has rows of the same sources that `look` did not find.
        """
        ours = f"{ingest.id}.json"
        # 2.
        self._write_list(ours, ingest)
        try:
            # 3.
            self._decide(ingest)
        except BaseException:
            if not self._is_decided(ingest.id):
                self._remove_list(ours)
            raise
        # 4. to 6.
        self._finish(ingest)
        if len(self._read) >= MANY:
            self.join_files()

    def discard(self, ingest: str) -> None:
        """Remove the files of an ingest that has failed, unless it was decided before."""
        # First of all: tasks that end behind this remove their files by themselves.
        self.clear(ingest)
        if self._is_decided(ingest):
            return
        filesystem, folder = self.location.files()
        for pattern in (f"*/date=*/hour=*/part-{ingest}-*", f"{SOURCES}/part-{ingest}-*"):
            for path in filesystem.glob(f"{folder}/{pattern}"):
                with suppress(FileNotFoundError):  # removed by such a task
                    filesystem.rm_file(path)
        self._remove_list(f"{ingest}.json")

    def give_up(self, ingest: str) -> None:
        """Remove an ingest that is not decided, even if its process still is there, or stopped.

        1. Remove its list, without which it is not decided any more.
        2. Commit to `sources`: if its process has seen the list before, its commit is too late.
        3. It may have been decided before that; then finish it.
        """
        filesystem, folder = self.location.files()
        name = f"{ingest}.json"
        try:
            data = filesystem.cat_file(f"{folder}/{FOLDER}/{name}")
        except FileNotFoundError:
            return
        # 1.
        self._remove_list(name)
        # 2.
        append(self.location, SOURCES, [], f"given-up-{ingest}")
        # 3.
        if self._is_decided(ingest):
            self._finish(msgspec.json.decode(data, type=Ingest))
        else:
            self.discard(ingest)

    def clear(self, ingest: str) -> None:
        """Remove the staging folder of an ingest, and in it the mark that it is in work."""
        filesystem, folder = self.location.files()
        staging = f"{folder}/{FOLDER}/{ingest}"
        with suppress(FileNotFoundError):
            filesystem.rm_file(f"{staging}/{IN_WORK}")
        with suppress(OSError):  # it is not there, or a task that ends writes to it
            filesystem.rm(staging, recursive=True)

    def finish_all(self) -> None:
        """Finish every ingest that was decided and not finished."""
        for ingest in self._lists():
            if self._is_decided(ingest.id):
                self._finish(ingest)

    def tables(self) -> dict[str, DeltaTable]:
        """Open all tables as they are at one moment. Raises Busy."""
        for _ in range(OPENINGS):
            before = open_table(self.location, SOURCES)
            # Behind `before`: whatever it has is then in the tables, too.
            self.finish_all()
            opened = {name: open_table(self.location, name) for name in TABLES}
            after = open_table(self.location, SOURCES)
            if _version(before) == _version(after):
                return {name: table for name, table in opened.items() if table is not None}
        raise Busy(f"{self.location.url} is written all the time: try again.")

    def undecided(self) -> Iterator[tuple[str, datetime]]:
        """Yield ids of ingests that are in work, or that have ended before they were decided."""
        for ingest, at in self._listed():
            if not self._is_decided(ingest):
                yield ingest, at

    def join_files(self) -> None:
        """Write the small files of `sources` as one; if others write meanwhile, leave them."""
        with suppress(DeltaError, OSError, LocalError):
            writable_table(self.location, SOURCES).optimize.compact()

    def _decide(self, ingest: Ingest) -> None:
        """Commit the rows of an ingest to `sources`."""
        file = self._sources_file(ingest, ingest.stretches)
        for _ in range(TRIES):
            table = writable_table(self.location, SOURCES)
            # A store of objects may refuse the repetition of a request that it has carried out.
            if has_ingest(table, ingest.id):
                return
            self._ensure_not_given_up(ingest.id)
            self._ensure_not_overtaken(ingest, table)
            if try_append(self.location, SOURCES, table, [add_action(file)], ingest.id):
                return
        raise CannotCommit(f"{self.location.below(SOURCES)} is changed all the time: try again.")

    def _sources_file(self, ingest: Ingest, stretches: Iterable[Stretch]) -> TableFile:
        """Write rows for `sources`; return their file, for a commit."""
        now = datetime.now(UTC)
        rows = source_rows(stretches, ingest=ingest.id, tables=ingest.tables, now=now)
        with TableFiles(self.location.url, ingest.id) as writing:
            writing.write(SOURCES, rows)
        (file,) = writing.files
        return file

    def _ensure_not_given_up(self, ingest: str) -> None:
        """Raise CannotCommit if maintenance has removed the list; to be called behind a look."""
        filesystem, folder = self.location.files()
        if not filesystem.exists(f"{folder}/{FOLDER}/{ingest}.json"):
            raise CannotCommit(
                f"{self.location.url}: maintenance has removed what this ingest wrote, because it"
                " took too long: run it again."
            )

    def _ensure_not_overtaken(self, ingest: Ingest, table: DeltaTable) -> None:
        before = {row["ingest"] for row in self.known(ingest.stretches)}
        self._take(table)
        if any(row["ingest"] not in before for row in self.known(ingest.stretches)):
            raise Overtaken

    def _is_decided(self, ingest: str) -> bool:
        table = open_table(self.location, SOURCES)
        return table is not None and has_ingest(table, ingest)

    def _finish(self, ingest: Ingest) -> None:
        """Commit the files of an ingest to the tables that lack them; remove its list."""
        # 4.
        for name in ingest.tables:
            files = [file for file in ingest.files if file.table == name]
            append(self.location, name, files, ingest.id)
        # 5.
        complete = f"complete-{ingest.id}"
        if not has_ingest(writable_table(self.location, SOURCES), complete):
            file = self._sources_file(ingest, [completed(ingest.id, ingest.stretches)])
            append(self.location, SOURCES, [file], complete)
        # 6.
        self._remove_list(f"{ingest.id}.json")

    def _lists(self) -> Iterator[Ingest]:
        filesystem, folder = self.location.files()
        for ingest, _ in list(self._listed()):
            # Another process may have finished it.
            with suppress(FileNotFoundError):
                data = filesystem.cat_file(f"{folder}/{FOLDER}/{ingest}.json")
                yield msgspec.json.decode(data, type=Ingest)

    def _listed(self) -> Iterator[tuple[str, datetime]]:
        filesystem, folder = self.location.files()
        try:
            entries: Sequence[dict[str, Any]] = filesystem.ls(f"{folder}/{FOLDER}", detail=True)
        except FileNotFoundError:
            return
        for entry in entries:
            path = PurePosixPath(entry["name"])
            if path.suffix == ".json" and is_id(path.stem):
                yield path.stem, modified(filesystem, str(path))

    def _write_list(self, name: str, ingest: Ingest) -> None:
        filesystem, folder = self.location.files()
        filesystem.makedirs(f"{folder}/{FOLDER}", exist_ok=True)
        path = f"{folder}/{FOLDER}/{name}"
        data = msgspec.json.encode(ingest)
        if self.location.local:
            # Whole under its name, or not there: a store of objects gives that by itself.
            filesystem.pipe_file(f"{path}-writing", data)
            filesystem.mv(f"{path}-writing", path)
            self.location.flush(FOLDER, name)
        else:
            filesystem.pipe_file(path, data)

    def _remove_list(self, name: str) -> None:
        filesystem, folder = self.location.files()
        for path in (f"{folder}/{FOLDER}/{name}", f"{folder}/{FOLDER}/{name}-writing"):
            with suppress(FileNotFoundError):
                filesystem.rm_file(path)


def _version(table: DeltaTable | None) -> int:
    return NONE if table is None else table.version()


def _rows(path: str) -> list[LedgerRow]:
    with fsspec.open(path, "rb") as stream:
        rows: list[LedgerRow] = pq.read_table(stream).to_pylist()
    return rows
