"""The whole pipeline on a server of S3: captures and tables, without a jar of Hadoop."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import fsspec
import pytest
from pyspark.sql import SparkSession

from kwire.pipeline.opening import has_file_system
from kwire.pipeline.store.ledger import Ledger
from kwire.pipeline.store.location import Location
from kwire.pipeline.store.maintenance import maintain
from tests.support.cli.command import Command, Run
from tests.support.pipeline.command_process import CommandProcess
from tests.support.pipeline.object_store import ObjectStore, object_store
from tests.support.pipeline.recordings import CALLS, recordings_in, write_recordings

CAPTURES, TABLES = "s3://kwire/captures", "s3://kwire/tables"
INGEST = ("pipeline", "ingest", CAPTURES, "-o", TABLES, "--json")


@pytest.fixture(scope="module")
def store(spark: SparkSession) -> Iterator[ObjectStore]:
    """The server, known to this process, to those that it starts, and to Spark's workers."""
    with object_store() as store, pytest.MonkeyPatch.context() as patch:
        for name, value in store.env.items():
            patch.setenv(name, value)
            patch.setitem(spark.sparkContext.environment, name, value)
        yield store


@pytest.fixture
def bucket(store: ObjectStore, tmp_path: Path) -> Iterator[Any]:
    """A bucket with two captures; its file system."""
    files = fsspec.filesystem("s3")
    files.mkdir("kwire")
    put(files, tmp_path, 2)
    yield files
    files.rm("kwire", recursive=True)


def put(files: Any, folder: Path, count: int, *, begin: int = 0) -> None:
    for path in write_recordings(folder / "captures", count, begin=begin):
        files.put_file(str(path), f"kwire/captures/{path.name}")


def printed(run: Run) -> Any:
    """The JSON that a command printed."""
    assert run.code == 0, run.err
    return run.json


def kept(files: Any) -> Counter[str]:
    """The number of Parquet files by table, named or not; staged ones under `_ingests`."""
    files.invalidate_cache()
    paths = [path.split("/") for path in files.find("kwire/tables")]
    return Counter(path[2] for path in paths if "_delta_log" not in path)


@pytest.mark.timeout(600)
def test_captures_become_tables_that_commands_and_others_read(
    bucket: Any, kwire: Command, tmp_path: Path
) -> None:
    first = printed(kwire(*INGEST))
    assert first["read"] == [f"{CAPTURES}/recording-{number}.avro" for number in range(2)]
    assert (first["rows"]["calls"], first["repeated"]) == (2 * CALLS, 0)
    put(bucket, tmp_path, 1, begin=2)
    again = printed(kwire(*INGEST))
    assert (again["rows"]["calls"], again["repeated"]) == (CALLS, 2 * 2 * CALLS)
    everything = {f"recording-{number}" for number in range(3)}
    assert recordings_in(TABLES) == everything
    assert kept(bucket)["_ingests"] == 0
    query = "select date, hour, api, count(*) as calls from calls group by all order by api"
    day = {"date": "2026-11-21", "hour": 7}
    assert printed(kwire("pipeline", "sql", TABLES, query, "--json")) == [
        day | {"api": "ApiVersions", "calls": 3 * 2},
        day | {"api": "Vote", "calls": 3 * 3},
    ]
    latencies = printed(kwire("pipeline", "analyse", TABLES, "latencies", "--json"))["latencies"]
    assert {row["api"]: row["calls"] for row in latencies} == {"ApiVersions": 6, "Vote": 9}
    cleaned = printed(kwire("pipeline", "maintain", TABLES, "--unused-hours", "0", "--json"))
    joined = {row["table"]: row["into"] for row in cleaned}
    assert joined["frames"] == joined["sources"] == 1
    assert (kept(bucket)["frames"], kept(bucket)["sources"]) == (1, 1)
    assert recordings_in(TABLES) == everything
    assert by_duckdb() == dict.fromkeys(everything, 2 * CALLS)


def by_duckdb() -> dict[str, int]:
    """Count frames with DuckDB: deltalake opens the files for it."""
    dataset = Ledger(Location.of(TABLES)).tables()["frames"].to_pyarrow_dataset()
    counted = duckdb.from_arrow(dataset).aggregate("capture, count(*)").fetchall()
    return dict(counted)


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_two_at_once_and_one_that_is_killed(bucket: Any, kwire: Command) -> None:
    with CommandProcess() as other:
        other.begin(*INGEST)
        assert next(line for line in other.lines() if line in ("reading frames", "committing"))
        ours, theirs = printed(kwire(*INGEST)), json.loads(other.result()["out"])
        assert sorted((ours["repeated"], theirs["repeated"])) == [0, 2 * 2 * CALLS]
        assert recordings_in(TABLES) == {"recording-0", "recording-1"}
        bucket.rm("kwire/tables", recursive=True)
        other.begin(*INGEST)
        next(line for line in other.lines() if line == "committing")
        other.kill()
    assert recordings_in(TABLES) in (set(), {"recording-0", "recording-1"})
    printed(kwire(*INGEST))
    assert recordings_in(TABLES) == {"recording-0", "recording-1"}
    maintain(TABLES, unused_hours=0)
    assert kept(bucket)["_ingests"] == 0


def test_spark_has_no_file_system_for_it_and_python_reads(spark: SparkSession) -> None:
    """If PySpark had one, all of this would be read by Spark itself, and nothing else tried."""
    assert not has_file_system(spark, "s3://kwire/tables")
    assert not has_file_system(spark, "abfs://kwire/tables")
    assert has_file_system(spark, "/kwire/tables")
    assert has_file_system(spark, "file:///kwire/tables")
