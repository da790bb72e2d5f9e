"""`kwire capture query` gives what `kwire pipeline sql` gives, without Spark."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from kwire.pipeline.capture_rows import CaptureRows, capture_files
from kwire.pipeline.ingest import ingest
from kwire.pipeline.opening import open_tables
from kwire.pipeline.query import WrongQuery, open_query
from kwire.pipeline.schemas import OF_CAPTURES
from kwire.proxy.capture.pcap_export import write_pcapng
from tests.support.capture.capture_records import old_clients, read, write
from tests.support.cli.command import Command
from tests.support.pipeline.decodable_calls import write_captures
from tests.support.pipeline.recordings import write_parts

FETCH = "select client_id, api_version from calls where api = 'Fetch' order by all"

WITHOUT = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j", "pandas", "deltalake"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Hidden())
from kwire.cli.main import main
main(sys.argv[1:])
"""
"""Runs kwire where what Spark needs is not installed."""


def asked(sql: str, *paths: Path) -> tuple[list[str], list[tuple[Any, ...]], CaptureRows]:
    """The names and rows of an answer, and what was read for it."""
    with open_query(sql) as query:
        capture = CaptureRows(
            capture_files(map(str, paths)), query.tables, on_share=lambda share: None
        )
        query.read(capture)
        names, rows = query.answer()
        return names, list(rows), capture


def of_decodable_calls(folder: Path) -> None:
    write_captures(folder, captures=2)


def of_copies(folder: Path) -> None:
    """A recording of two files, one of them twice; another one that is in no order."""
    write_parts(folder)
    shutil.copy(folder / "parts-1.avro", folder / "copy.avro")
    write(folder / "old.avro", [*reversed(old_clients())])


def of_damage(folder: Path) -> None:
    """A torn file, and packets."""
    write_captures(folder, captures=1)
    (whole,) = folder.glob("*.avro")
    with (folder / "night.pcapng").open("wb") as file:
        write_pcapng(read(whole)[0], file)
    write(folder / "torn.avro", old_clients(), block=2)
    (folder / "torn.avro").write_bytes((folder / "torn.avro").read_bytes()[:-3])


def plain(value: Any) -> Any:
    """A value of either engine: Spark's rows are tuples, DuckDB's dicts."""
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    return [plain(element) for element in value] if isinstance(value, list) else value


def texts(names: list[str], rows: Iterator[Any] | list[Any]) -> list[str]:
    found = [dict(zip(names, map(plain, row), strict=True)) for row in rows]
    return sorted(json.dumps(row, default=lambda value: str(value)[:26]) for row in found)


@pytest.mark.spark
@pytest.mark.parametrize("make", [of_decodable_calls, of_copies, of_damage])
def test_the_rows_are_those_of_the_pipeline(
    spark: SparkSession, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    make(captures)
    ingest(spark, [str(captures)], str(tmp_path / "tables"))
    opened = open_tables(spark, str(tmp_path / "tables"))
    for table in OF_CAPTURES:
        names, rows, _ = asked(f"select * from {table}", captures)
        expected = opened[table].drop("ingest") if table in opened else None
        assert expected is not None or not rows
        if expected is not None:
            assert names == expected.columns
            assert texts(names, rows) == texts(names, expected.collect()), table


def test_neither_spark_nor_pandas_is_needed(tmp_path: Path) -> None:
    write(tmp_path / "one.avro", old_clients())
    command = [sys.executable, "-c", WITHOUT, "capture", "query", str(tmp_path), FETCH, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    rows = [tuple(json.loads(line).values()) for line in done.stdout.splitlines()]
    assert rows == [("till", 3), ("till", 3), ("till", 4), (None, 12)]  # null comes last


def test_rows_that_exceed_the_memory_are_on_disk_and_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwire.pipeline.query.MEMORY", "64MB")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spilled: list[str] = []
    with open_query("select count(*) from calls") as query:
        for _ in range(40):
            query._connection.execute(
                "insert into stored.calls (client_id) select repeat(i::text, 50) from range(9999)"
                " as numbers(i)"
            )
        spilled += [name for _, _, names in os.walk(tmp_path) for name in names]
        assert next(query.answer()[1]) == (40 * 9999,)
    assert spilled
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("select nope from quorum", 'column "nope" not found in FROM clause: "describe quorum" '),
        ("select 1 from nights", "the tables are frames, calls, messages, quorum, verdicts."),
        ("select at from calls", 'quote reserved names ("at", "check", "end", "offset")'),
        ("drop table calls", "this is no query, or several"),
        ("select 1; select 2", "this is no query, or several"),
        ("copy calls to 'x.csv'", "this is no query, or several"),
        ("set memory_limit = '9TB'", "this is no query, or several"),
        ("from read_text('/etc/hostname')", "file system operations are disabled"),
        ("from '/etc/hostname'", "Table with name /etc/hostname does not exist"),
        ("from OF_CAPTURES", "Table with name OF_CAPTURES does not exist"),
    ],
)
def test_a_wrong_query_is_refused_before_anything_is_read(sql: str, sentence: str) -> None:
    with pytest.raises(WrongQuery) as refused, open_query(sql):
        pass
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_table_that_is_not_named_is_not_empty_without_a_word(tmp_path: Path) -> None:
    write(tmp_path / "one.avro", old_clients())
    _, rows, _ = asked("select count(*) from query_table('cal' || 'ls')", tmp_path)
    assert rows == [(7,)]
    with pytest.raises(WrongQuery):
        asked("select 'frames', * from query_table('cal' || 'ls')", tmp_path)


def test_what_cannot_be_read_is_told(kwire: Command, tmp_path: Path) -> None:
    of_damage(tmp_path)
    (tmp_path / "night.pcapng").unlink()
    run = kwire("capture", "query", str(tmp_path), FETCH, "--json")
    assert run.code == 1
    assert "torn.avro, byte" in run.err
    assert "frames have no content that can be read" in run.err
    run = kwire("capture", "query", str(tmp_path), "select kind from frames", "--json")
    assert run.out.splitlines()


def test_forms_of_values(kwire: Command, tmp_path: Path) -> None:
    write(tmp_path / "one.avro", old_clients())
    values = "select 1.5 as a, [1, 2] as b, 'x,y' as c, interval 1 day as d, 1/0::double as e"
    words = ("capture", "query", str(tmp_path), f"{values}, sum(size) as f from frames")
    (line,) = kwire(*words, "--json").out.splitlines()
    assert json.loads(line) | {"f": 0} == {
        **{"a": "1.5", "b": [1, 2], "c": "x,y", "d": "1 day, 0:00:00", "e": "Infinity", "f": 0}
    }
    assert kwire(*words).out.split()[:6] == list("abcdef")


def test_columns_of_one_name_are_all_there(kwire: Command, tmp_path: Path) -> None:
    write(tmp_path / "one.avro", old_clients())
    sql = "select 1 as a, 2 as a_1, 3 as a from calls limit 1"
    run = kwire("capture", "query", str(tmp_path), sql, "--json")
    assert json.loads(run.out) == {"a": 1, "a_1": 2, "a_2": 3}


def test_a_table_is_described(kwire: Command, tmp_path: Path) -> None:
    write(tmp_path / "one.avro", old_clients())
    run = kwire("capture", "query", str(tmp_path), "describe calls", "--json")
    types = {
        row["column_name"]: row["column_type"] for row in map(json.loads, run.out.splitlines())
    }
    assert types["latency_ms"] == "DOUBLE"
    assert "cluster_id" in types


@pytest.mark.parametrize("words", [["gone.avro", FETCH], ["gone.avro"], [FETCH], ["-", FETCH]])
def test_files_that_are_none(kwire: Command, words: list[str]) -> None:
    run = kwire("capture", "query", *words)
    assert run.code in (1, 2)
    assert run.err.count("Error: ") == 1


def test_gaps_are_told(tmp_path: Path) -> None:
    import msgspec

    records = old_clients()
    later = [
        msgspec.structs.replace(one, event=one.event + 100, at_us=one.at_us + 9_000_000)
        for one in records
    ]
    write(tmp_path / "one.avro", [*records, *later])
    _, _, capture = asked("select count(*) from calls", tmp_path)
    (sentence,) = capture.gaps()
    assert "events are missing between" in sentence


def test_duckdb_is_of_this_process_alone() -> None:
    with open_query("from calls") as query, pytest.raises(duckdb.Error):
        query._connection.execute("set lock_configuration = false")
