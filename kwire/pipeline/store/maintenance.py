"""Maintenance of the tables: `kwire pipeline maintain`.

1. Finish what was decided and not finished; give up what was not decided, and is too old.
2. Remove the rows of days that are too old, and the rows of `sources` about them.
3. Write the small files of an hour as few large ones.
4. Remove files that no version of a table needs any more: replaced ones, and what interrupted
   ingests have left. What neither kwire nor delta-rs wrote stays.
Each step is a commit of Delta's, so that it may be interrupted, and run while others write.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from fsspec import AbstractFileSystem

from kwire.pipeline.schemas import TABLES
from kwire.pipeline.store.delta import CannotCommit, open_table, sentence_of
from kwire.pipeline.store.files import INGESTED
from kwire.pipeline.store.ledger import FOLDER, SOURCES, Ledger, is_id
from kwire.pipeline.store.location import Location, modified
from kwire.pipeline.store.sources import BATCH

TARGET_BYTES = 256 * 1024 * 1024
"""Bytes of a file, where an hour has so many."""

JOINED = re.compile(r"part-\d{5}-[0-9a-f-]{36}-c000\.\w+\.parquet")
"""Names of the files that delta-rs writes in place of others."""

UNUSED_HOURS = 168
"""Hours after which files that nothing needs are removed: no reader or ingest takes so long."""


@dataclass(slots=True, kw_only=True)
class Maintained:
    """Maintenance of one table. deleted: rows of old days. joined, into: files that were written as
    fewer. removed: files from the disk. left: files in its folder that others wrote.
    """

    table: str
    deleted: int = 0
    joined: int = 0
    into: int = 0
    removed: int = 0
    left: int = 0


def maintain(
    output: str,
    *,
    keep_days: int | None = None,
    unused_hours: int = UNUSED_HOURS,
    target_bytes: int = TARGET_BYTES,
    today: date | None = None,
    on_step: Callable[[str], None] = lambda step: None,
) -> list[Maintained]:
    """Maintain all tables; return what was done to each that is there.

    keep_days: days of rows to keep, by the date of the row; None for all. unused_hours: as
    UNUSED_HOURS. Raises CannotCommit, TableUnusable.
    """
    ledger = Ledger(Location.of(output))
    # 1.
    on_step("finishing ingests")
    ledger.finish_all()
    # Before any file is removed: an ingest that is stopped must not name it afterwards.
    _remove_undecided(ledger, timedelta(hours=unused_hours))
    day = today or datetime.now(UTC).date()
    first = None if keep_days is None else day - timedelta(days=keep_days)
    done = []
    for name in TABLES:
        table = open_table(ledger.location, name)
        if table is not None:
            on_step(f"maintaining {name}")
            done.append(_maintain(ledger, name, table, first, unused_hours, target_bytes))
    return done


def _maintain(
    ledger: Ledger,
    name: str,
    table: DeltaTable,
    first: date | None,
    unused_hours: int,
    target_bytes: int,
) -> Maintained:
    done = Maintained(table=name)
    try:
        # 2.
        if first is not None:
            predicate = _of_old_sources(ledger, first) if name == SOURCES else _of_old_rows(first)
            done.deleted = int(table.delete(predicate)["num_deleted_rows"] or 0)
        # 3.
        figures = table.optimize.compact(target_size=target_bytes)
        done.joined, done.into = figures["numFilesRemoved"], figures["numFilesAdded"]
        # 4.
        done.removed, done.left = _remove_unused(ledger, name, table, unused_hours)
        table.create_checkpoint()
        table.cleanup_metadata()
    except (DeltaError, OSError) as error:
        raise CannotCommit(
            f"{table.table_uri} cannot be maintained: {sentence_of(error)}"
        ) from error
    return done


def _remove_unused(
    ledger: Ledger, name: str, table: DeltaTable, unused_hours: int
) -> tuple[int, int]:
    """Remove files of kwire's that no version needs; return how many, and how many others stay."""
    unused = table.vacuum(
        retention_hours=unused_hours, dry_run=True, enforce_retention_duration=False, full=True
    )
    filesystem, folder = ledger.location.files()
    paths = [f"{folder}/{name}/{path}" for path in unused]
    ours = [path for path in paths if _is_ours(filesystem, path)]
    for path in ours:
        with suppress(FileNotFoundError):  # another process removes it, too
            filesystem.rm_file(path)
    return len(ours), len(paths) - len(ours)


def _is_ours(filesystem: AbstractFileSystem, path: str) -> bool:
    """Return True for a file of an ingest, and for one that delta-rs has joined others to."""
    file = path.rpartition("/")[2]
    if not JOINED.fullmatch(file):
        return INGESTED.fullmatch(file) is not None
    # Spark and others give their files the same names.
    with suppress(pa.ArrowInvalid, OSError), filesystem.open(path, "rb") as stream:
        return str(pq.ParquetFile(stream).metadata.created_by).startswith("delta-rs")
    return False


def _of_old_rows(first: date) -> str:
    return f"date < DATE '{first}'"


def _of_old_sources(ledger: Ledger, first: date) -> str:
    """Return the condition for rows of which nothing is left; a stream needs its last batch."""
    ledger.look()
    last = " ".join(
        f"AND NOT (source = '{query}' AND \"first\" = {number})"
        for query, number in ledger.last_batches().items()
    )
    # A literal of a time has nanoseconds and no zone; the kernel compares times of one type only.
    kind = 'Timestamp(Microsecond, Some("UTC"))'
    old = f"\"end\" < arrow_cast('{first}T00:00:00Z', '{kind}')"
    return f"{old} AND (kind <> '{BATCH}' OR (true {last}))"


def _remove_undecided(ledger: Ledger, age: timedelta) -> None:
    """Remove lists and staged rows of ingests that ended before they were decided, long ago."""
    before = datetime.now(UTC) - age
    for ingest, at in list(ledger.undecided()):
        if at < before:
            ledger.give_up(ingest)
    filesystem, folder = ledger.location.files()
    with suppress(FileNotFoundError):
        for entry in filesystem.ls(f"{folder}/{FOLDER}", detail=True):
            path = entry["name"]
            if is_id(path.rpartition("/")[2]) and _newest(filesystem, path) < before:
                filesystem.rm(path, recursive=True)


def _newest(filesystem: AbstractFileSystem, folder: str) -> datetime:
    """Return the time of the youngest file in a folder."""
    files = filesystem.find(folder)
    times = [modified(filesystem, path) for path in files]
    return max(times, default=datetime.min.replace(tzinfo=UTC))
