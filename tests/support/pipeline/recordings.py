"""Small captures, each of a recording of its own, and what tables have of each of them.

Tables are opened without Spark, as any reader of Delta does once the ledger has been looked at.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from kwire.pipeline.schemas import OF_CAPTURES
from kwire.pipeline.store.ledger import Ledger
from kwire.pipeline.store.location import Location
from kwire.pipeline.store.sources import COMPLETE
from tests.support.capture.capture_records import write
from tests.support.pipeline.decodable_calls import call

CALLS = 5

WHOLE = {"frames": 2 * CALLS, "calls": CALLS, "messages": 2 * CALLS, "sources": 1}
"""Rows of the tables for one of the recordings."""


def write_recordings(folder: Path | str, count: int, *, begin: int = 0) -> list[Path]:
    """Write so many captures of CALLS calls; return their paths."""
    Path(folder).mkdir(exist_ok=True)
    paths = []
    for number in range(begin, begin + count):
        path = Path(folder, f"recording-{number}.avro")
        records = [entry for event in range(CALLS) for entry in call(event)]
        write(path, [msgspec.structs.replace(one, capture=path.stem) for one in records])
        paths.append(path)
    return paths


def write_parts(folder: Path, name: str = "parts") -> None:
    """Write a recording of two captures: a request ends the first, its response begins the next."""
    folder.mkdir(exist_ok=True)
    records = [entry for event in range(2 * CALLS) for entry in call(event)]
    records = [msgspec.structs.replace(one, capture=name) for one in records]
    write(folder / f"{name}-0.avro", records[:CALLS])
    write(folder / f"{name}-1.avro", records[CALLS:])


def recordings_in(output: Path | str) -> set[str]:
    """Return the recordings in tables; check that each is whole, and once, in all of them."""
    tables = Ledger(Location.of(str(output))).tables()
    if not tables:
        return set()
    counts = {}
    for name in WHOLE:
        column = "source" if name == "sources" else "capture"
        rows = tables[name].to_pyarrow_table().to_pylist()
        rows = [row for row in rows if name != "sources" or row["kind"] != COMPLETE]
        counts[name] = Counter(row[column] for row in rows)
    there = set(counts["sources"])
    assert counts == {name: dict.fromkeys(there, rows) for name, rows in WHOLE.items()}
    return there


def rows_of(output: Path | str, table: str) -> list[dict[str, Any]]:
    """The rows of a table."""
    opened = Ledger(Location.of(str(output))).tables()[table]
    found: list[dict[str, Any]] = opened.to_pyarrow_table().to_pylist()
    return found


def plain_rows(output: Path | str) -> dict[str, list[str]]:
    """The rows of the tables of captures, in an order that does not depend on files or ingests."""
    tables = Ledger(Location.of(str(output))).tables()
    return {
        name: sorted(map(repr, tables[name].to_pyarrow_table().drop_columns("ingest").to_pylist()))
        for name in OF_CAPTURES
        if name in tables
    }


def unnamed_files(output: Path) -> set[Path]:
    """The Parquet files that no table needs."""
    tables = Ledger(Location.of(str(output))).tables()
    named = {Path(uri.removeprefix("file://")) for t in tables.values() for uri in t.file_uris()}
    there = {path for path in output.rglob("part-*.parquet") if "_delta_log" not in path.parts}
    return there - named
