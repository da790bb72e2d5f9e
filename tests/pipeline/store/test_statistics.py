"""Statistics in commits: readers skip files by them, and find the same rows as without."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, QueryBuilder

from kwire.pipeline.schemas import TABLES, arrow_schema_of
from kwire.pipeline.store.delta import append
from kwire.pipeline.store.files import TableFiles
from kwire.pipeline.store.ledger import new_id
from kwire.pipeline.store.location import Location

BEGIN = datetime(2026, 11, 26, 3, 0, 0, 1, UTC)
VALUES: dict[pa.DataType, Any] = {
    pa.bool_(): True,
    pa.string(): "x",
    pa.binary(): b"x",
    pa.float64(): 0.5,
    pa.timestamp("us", "UTC"): BEGIN,
}
"""A value of each type; of all others it is 7."""


def write(output: Path, table: str, rows: pa.RecordBatch) -> None:
    with TableFiles(str(output), new_id()) as files:
        files.write(table, rows)
    append(Location.of(str(output)), table, files.files, new_id())


def odd_rows(table: str) -> pa.RecordBatch:
    """Two rows, the second of which has no values; structs and lists are null in both."""
    schema = arrow_schema_of(table)
    arrays = [
        pa.nulls(2, field.type)
        if pa.types.is_nested(field.type)
        else pa.array([VALUES.get(field.type, 7), None], field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@pytest.mark.parametrize("table", TABLES)
def test_every_filter_finds_what_it_finds_without_statistics(tmp_path: Path, table: str) -> None:
    """Decision 87: a dataset takes a column without them for null, where others have some."""
    rows = odd_rows(table)
    write(tmp_path, table, rows)
    opened = DeltaTable(str(tmp_path / table))
    dataset, engine = opened.to_pyarrow_dataset(), QueryBuilder().register("t", opened)
    with duckdb.connect() as connection:
        connection.register("t", dataset)
        for field in rows.schema:
            is_null = f'select 1 from t where "{field.name}" is null'
            empty = 2 if pa.types.is_nested(field.type) else 1
            empty = 0 if field.name == "ingest" else empty
            assert dataset.count_rows(filter=pc.field(field.name).is_null()) == empty
            assert len(connection.sql(is_null).fetchall()) == empty, field.name
            assert pa.table(engine.execute(is_null).read_all()).num_rows == empty, field.name
            if empty == 1:
                value = pa.scalar(VALUES.get(field.type, 7), field.type)
                assert dataset.count_rows(filter=pc.field(field.name) == value) == 1


def test_files_are_skipped_by_time_and_capture(tmp_path: Path) -> None:
    schema = arrow_schema_of("frames")
    for number in range(3):
        event = {"capture": f"night-{number}", "at": BEGIN + timedelta(minutes=number)}
        write(tmp_path, "frames", pa.RecordBatch.from_pylist([event], schema))
    opened = DeltaTable(str(tmp_path / "frames"))
    dataset = opened.to_pyarrow_dataset()
    later = pa.scalar(BEGIN + timedelta(minutes=1), pa.timestamp("us", "UTC"))
    for condition, files in (
        (pc.field("at") >= later, 2),
        (pc.field("at") > pa.scalar(BEGIN + timedelta(hours=1), later.type), 0),
        (pc.field("capture") == "night-1", 1),
    ):
        assert len(list(dataset.get_fragments(condition))) == files
    (log,) = (tmp_path / "frames" / "_delta_log").glob("*1.json")
    lines = map(json.loads, log.read_text().splitlines())
    (added,) = (line["add"] for line in lines if "add" in line)
    told = json.loads(added["stats"])
    # Delta has milliseconds: the least is rounded down, the greatest up.
    assert (told["minValues"]["at"], told["maxValues"]["at"]) == (
        "2026-11-26T03:00:00.000Z",
        "2026-11-26T03:00:00.001Z",
    )
    assert (told["minValues"]["capture"], told["nullCount"]["client"]) == ("night-0", 1)
