"""Answers a query about captures with DuckDB, over the rows that `kwire pipeline ingest` writes.

The rows are made by the functions that Spark's tasks run. Spark is not needed, and nothing is kept.
docs/decisions/0125-a-query-without-spark.md has the reasons.
"""

from __future__ import annotations

import gc
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.errors import LocalError
from kwire.pipeline.capture_rows import CaptureRows
from kwire.pipeline.schemas import OF_CAPTURES, arrow_schema_of
from kwire.pipeline.tables.pairing import Positions

MEMORY = "1GB"
"""Of DuckDB. What a query needs beyond it is in a temporary folder meanwhile."""

FETCHED = 1024
"""Rows of an answer that are in Python's memory at once."""

_VIEW = """
    create view {0} as select rows.*, rows.at::date as date, hour(rows.at)::int as hour, cluster_id
    from stored.{0} as rows left join stored.clusters using (capture)"""

_REPEATED = """
    select position from stored.seen qualify row_number() over (
        partition by coalesce(capture, file || chr(10) || text), coalesce(event, -1), kind
        order by copied desc nulls last, file, position) > 1"""
"""The rows that `kwire.pipeline.repeated.once` leaves out."""

_ROWS = "kwire_rows"
_INSERT = "insert into {} from {}"
_KIND = re.compile(r"^(?:\w+ )+Error: ")


class WrongQuery(LocalError):
    """The text is no query, names what is not there, or fails on a value."""


@contextmanager
def open_query(sql: str) -> Iterator[CaptureQuery]:
    """Yield a query; remove its rows in the end. Raises WrongQuery."""
    with TemporaryDirectory(prefix="kwire-query-") as folder:
        # Without the last one, names of Python's own variables would be tables.
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY,
            "temp_directory": folder,
            "python_enable_replacements": False,
        }
        with duckdb.connect(config=config) as connection, _interrupted_by_signals(connection):
            yield CaptureQuery(connection, sql)


@contextmanager
def _interrupted_by_signals(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Raise KeyboardInterrupt for Ctrl-C at once.

    DuckDB itself makes a RuntimeError of it, after its threads have ended whatever they do.
    """
    before, came = signal.getsignal(signal.SIGINT), Event()

    def interrupt(number: int, frame: object) -> None:
        came.set()
        connection.interrupt()
        raise KeyboardInterrupt

    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except Exception as error:
        if came.is_set():
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)


class CaptureQuery:
    """One query, and the tables that it names. connection: of DuckDB, with nothing in it."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, sql: str) -> None:
        """Make the tables without rows, lock DuckDB, check the query. Raises WrongQuery."""
        self._connection, self._sql = connection, sql
        # A name may be that of a column, or stand in a text: a table too many does no harm, and one
        # that is not read would be empty without a word.
        words = set(re.findall(r"\w+", sql.lower()))
        self.tables = [name for name in OF_CAPTURES if name in words] or list(OF_CAPTURES)
        connection.execute("set TimeZone = 'UTC'; create schema stored")
        connection.execute("create table stored.clusters (capture text, cluster_id text)")
        for name in self.tables:
            self._insert(name, arrow_schema_of(name).empty_table(), "create table {} as from {}")
            connection.execute(_VIEW.format(name))
        connection.execute("set enable_external_access = false; set lock_configuration = true")
        with self._errors():
            statements = connection.extract_statements(sql)
            if [one.type for one in statements] != [duckdb.StatementType.SELECT]:
                raise WrongQuery("this is no query, or several: give one select, from or describe.")
            connection.execute(f"explain {sql}")

    def read(self, capture: CaptureRows) -> None:
        """Insert the rows of the tables, each frame once. Raises FileError."""
        # Collections of garbage would look at every imported object again: a third of the CPU.
        gc.freeze()
        self._fill(capture, None)
        if capture.may_repeat:
            for name in self.tables:
                self._connection.execute(f"truncate stored.{name}")
            self._fill(capture, self._repeated(capture))
        known = pa.table([[*capture.clusters], [*capture.clusters.values()]], ["capture", "id"])
        self._insert("clusters", known.cast(pa.schema([("capture", "string"), ("id", "string")])))

    def answer(self) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Return the names of the columns, and the rows as they are made. Raises WrongQuery."""
        with self._errors():
            result = self._connection.execute(self._sql)
        return [str(column[0]) for column in result.description or ()], self._fetched(result)

    def _fetched(self, result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
        rows: Sequence[tuple[Any, ...]] = [()]
        while rows:
            with self._errors():
                rows = result.fetchmany(FETCHED)
            yield from rows

    def _fill(self, capture: CaptureRows, left_out: Positions | None) -> None:
        for name, rows in capture.rows(left_out):
            self._insert(name, rows)

    def _repeated(self, capture: CaptureRows) -> Positions:
        """Return the positions of repeated frames: of each all but the one with most bytes."""
        how = "create table {} as from {}"
        for first, _, batch in capture.captured():
            columns = {name: batch[name] for name in ("capture", "event", "kind", "file", "text")}
            columns["copied"] = pc.binary_length(batch["frame"])
            columns["position"] = pa.array(np.arange(first, first + batch.num_rows))
            self._insert("seen", pa.table(columns), how)
            how = _INSERT
        return np.asarray(self._connection.execute(_REPEATED).fetchnumpy()["position"])

    def _insert(self, name: str, rows: pa.Table | pa.RecordBatch, how: str = _INSERT) -> None:
        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        self._connection.register(_ROWS, table)
        self._connection.execute(how.format(f"stored.{name}", _ROWS))
        self._connection.unregister(_ROWS)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise WrongQuery for an error of DuckDB: its message, with what could be meant."""
        try:
            yield
        except duckdb.Error as error:
            raise WrongQuery(self._sentence(error)) from error

    def _sentence(self, error: duckdb.Error) -> str:
        """Return the first line of DuckDB's message, and what the query could have named."""
        first, *more = _KIND.sub("", str(error).partition("\n\n")[0]).splitlines()
        hint = " ".join(" ".join(more).split())
        if isinstance(error, duckdb.ParserException):
            hint = 'quote reserved names ("at", "check", "end", "offset"), or write calls.at'
        elif isinstance(error, duckdb.BinderException) and "column" in first:
            hint = f'"describe {self.tables[0]}" lists the columns'
        elif first.startswith("Table"):
            hint = f"the tables are {', '.join(OF_CAPTURES)}"
        return f"{first.rstrip('!. ')}: {hint.rstrip('?.')}." if hint else f"{first.rstrip('!. ')}."
