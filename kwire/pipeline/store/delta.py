"""Delta tables through delta-rs: created, given younger columns, appended to.

delta-rs refuses an application transaction (Delta protocol, "Transaction Identifiers") that another
writer committed meanwhile, but not one that the version already had, and appends never conflict. So
a commit is tried for one version only, and everything is looked at again before it is tried for the
next.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from time import sleep, time
from typing import Any

from deltalake import (
    CommitProperties,
    DeltaTable,
    Field,
    PostCommitHookProperties,
    Schema,
    Transaction,
)
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction

from kwire.errors import LocalError
from kwire.pipeline.schemas import PARTITIONED, TABLES
from kwire.pipeline.store.files import TableFile
from kwire.pipeline.store.full import is_full
from kwire.pipeline.store.location import Location
from kwire.pipeline.store.statistics import statistics

TRIES = 200
"""Commits that others may make between a look at a table and a commit, one after the other."""

OPENINGS = 4
"""Times that opening a table is tried."""

PAUSE = 0.05
"""Seconds between two tries, at most; of random length, so that two writers do not keep step."""

UNDERSTOOD = frozenset({"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"})
"""Features of Delta that do not change what the rows of a file are; `deletionVectors` does."""


class TableUnusable(LocalError):
    """A table cannot be read or written by this version; the message says why."""


class CannotCommit(LocalError):
    """A commit failed; the table is as before."""


def open_table(location: Location, name: str) -> DeltaTable | None:
    """Open the newest version of a table; None if there is none. Raises TableUnusable."""
    table = _opened(location, name)
    if table is None:
        return None
    unknown = sorted(set(table.protocol().reader_features or ()) - UNDERSTOOD)
    if unknown:
        raise TableUnusable(
            f"{location.below(name)} has features of Delta that kwire does not read:"
            f" {', '.join(unknown)}; read it with Spark's own Delta, or write it anew without them."
        )
    return table


def _opened(location: Location, name: str) -> DeltaTable | None:
    for attempt in range(OPENINGS):
        try:
            return DeltaTable(location.below(name), storage_options=location.options())
        except TableNotFoundError:
            return None
        except (DeltaError, OSError) as error:
            # A log that is listed while others commit may seem to lack a version.
            if attempt == OPENINGS - 1:
                sentence = f"{location.below(name)} cannot be opened: {sentence_of(error)}"
                raise TableUnusable(sentence) from error
            _pause()
    raise AssertionError


def writable_table(location: Location, name: str) -> DeltaTable:
    """Open a table to append to; make it, and add columns that it lacks. Raises TableUnusable."""
    wanted = Schema.from_arrow(TABLES[name])
    for _ in range(TRIES):
        table = open_table(location, name)
        if table is not None and not (younger := _younger(table, wanted)):
            return table
        try:
            if table is None:
                _create(location, name, wanted)
            else:
                _add_columns(table, younger)
                _flush(location, name, table.version())
        except CommitFailedError:
            _pause()
        except (DeltaError, OSError) as error:
            # Another process may have made the same table in between.
            if table is not None or open_table(location, name) is None:
                raise CannotCommit(_failed(location, name, error)) from error
    raise CannotCommit(f"{location.below(name)} is changed all the time by others: try again.")


def append(location: Location, name: str, files: Iterable[TableFile], ingest: str) -> None:
    """Add files to a table, unless this ingest has added its files before. Raises CannotCommit.

    1. Look whether the ingest is in the table.
    2. Commit for the next version alone. If another process was first, begin anew.
    """
    actions = [add_action(file) for file in files]
    for _ in range(TRIES):
        table = writable_table(location, name)
        # 1.
        if has_ingest(table, ingest):
            return
        # 2.
        if try_append(location, name, table, actions, ingest):
            return
        _pause()
    raise CannotCommit(f"{location.below(name)} is changed all the time by others: try again.")


def try_append(
    location: Location, name: str, table: DeltaTable, actions: Sequence[AddAction], ingest: str
) -> bool:
    """Add files as the next version of a table; return False if there is one already."""
    properties = CommitProperties(
        max_commit_retries=0, app_transactions=[Transaction(ingest, 1, int(time() * 1000))]
    )
    try:
        table.create_write_transaction(
            list(actions),
            mode="append",
            schema=table.schema(),
            partition_by=table.metadata().partition_columns,
            commit_properties=properties,
            # A checkpoint every hundred commits; logs are cleaned up by `kwire pipeline maintain`.
            post_commithook_properties=PostCommitHookProperties(cleanup_expired_logs=False),
        )
    except CommitFailedError:
        return False
    except (DeltaError, OSError) as error:
        raise CannotCommit(_failed(location, name, error)) from error
    _flush(location, name, table.version() + 1)
    return True


def has_ingest(table: DeltaTable, ingest: str) -> bool:
    """Return True if a commit of this ingest is in the table."""
    return table.transaction_version(ingest) is not None


def _add_columns(table: DeltaTable, fields: list[Field]) -> None:
    """Add columns, and fields of structs. Raises TableUnusable if a column has another type."""
    try:
        table.alter.add_columns(fields)
    except CommitFailedError:
        raise
    except DeltaError as error:
        raise TableUnusable(
            f"{table.table_uri} has columns of other types than this version of kwire"
            f" ({sentence_of(error)}): ingest into another folder."
        ) from error


def _create(location: Location, name: str, schema: Schema) -> None:
    partitions = [column for column in PARTITIONED if column in TABLES[name].names]
    DeltaTable.create(
        location.below(name),
        schema=schema,
        mode="error",
        partition_by=partitions,
        name=name,
        storage_options=location.options(),
    )
    _flush(location, name, 0)


def _flush(location: Location, name: str, version: int) -> None:
    """Have the disk keep a commit: delta-rs does not."""
    location.flush(name, "_delta_log", f"{version:020}.json")


def _younger(table: DeltaTable, wanted: Schema) -> list[Field]:
    """Return the columns that a table lacks, or whose structs lack fields."""
    there = {
        field["name"]: field["type"] for field in json.loads(table.schema().to_json())["fields"]
    }
    return [
        field
        for field, described in zip(
            wanted.fields, json.loads(wanted.to_json())["fields"], strict=True
        )
        if field.name not in there or not _covers(there[field.name], described["type"])
    ]


def _covers(known: Any, wanted: Any) -> bool:
    """Return True if a type of a table has all that a type of this version has (Delta's JSON)."""
    if isinstance(known, str) or isinstance(wanted, str):
        return bool(known == wanted)
    if known["type"] != wanted["type"]:
        return False
    if known["type"] == "array":
        return _covers(known["elementType"], wanted["elementType"])
    fields = {field["name"]: field["type"] for field in known["fields"]}
    return all(
        field["name"] in fields and _covers(fields[field["name"]], field["type"])
        for field in wanted["fields"]
    )


def add_action(file: TableFile) -> AddAction:
    """Return what a commit says of a file."""
    partition: dict[str, str | None] = {}
    if "date" in TABLES[file.table].names:
        partition = {"date": file.date, "hour": None if file.hour is None else str(file.hour)}
    return AddAction(
        path=file.path,
        size=file.size,
        partition_values=partition,
        modification_time=int(time() * 1000),
        data_change=True,
        stats=statistics(file.table, file.rows, file.nulls, file.least, file.greatest),
    )


def _failed(location: Location, name: str, error: Exception) -> str:
    return f"{location.below(name)} cannot be written: {sentence_of(error)}"


def sentence_of(error: Exception) -> str:
    """Return the reason of an error of delta-rs: the first of its lines, or that a disk is full."""
    if is_full(error):
        return "no space is left on its disk: free some, and try again"
    return str(error).strip().partition("\n")[0]


def _pause() -> None:
    sleep(random.uniform(0, PAUSE))
