"""`kwire pipeline maintain`: few files, no old rows, nothing unused, and the same rows."""

import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import time
from uuid import uuid4

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from kwire.pipeline.ingest import ingest
from kwire.pipeline.schemas import OF_CAPTURES
from kwire.pipeline.store.ledger import FOLDER, MANY, SOURCES, Ledger, new_id
from kwire.pipeline.store.location import Location
from kwire.pipeline.store.maintenance import maintain
from kwire.pipeline.store.sources import COMPLETE
from kwire.pipeline.streaming.captures import captures as followed
from kwire.pipeline.streaming.job import stream
from tests.support.cli.command import Command
from tests.support.pipeline.ledgered import NAMES, small_ingest
from tests.support.pipeline.recordings import (
    CALLS,
    plain_rows,
    unnamed_files,
    write_recordings,
)

DAY = datetime(2026, 11, 26, 3, tzinfo=UTC)


def publish(output: Path, capture: str, first: int = 0, *, at: datetime = DAY) -> None:
    ledger = Ledger(Location.of(str(output)))
    ledger.look()
    ledger.publish(small_ingest(output, capture, first, at=at))


def frames(output: Path, table: str) -> Counter[tuple[str, int]]:
    """The frames of a table, each with the number of its rows."""
    found = DeltaTable(str(output / table)).to_pyarrow_table(columns=["capture", "event"])
    return Counter((row["capture"], row["event"]) for row in found.to_pylist())


def files(output: Path, table: str) -> list[str]:
    return DeltaTable(str(output / table)).file_uris()


def test_many_small_files_become_one_of_each_hour(tmp_path: Path) -> None:
    for number in range(6):
        publish(tmp_path, "one", 10 * number, at=DAY + timedelta(hours=number % 2))
    before = frames(tmp_path, "frames")
    done = {one.table: one for one in maintain(str(tmp_path), unused_hours=0)}
    assert (done["frames"].joined, done["frames"].into, done["frames"].removed) == (6, 2, 6)
    assert (done[SOURCES].joined, done[SOURCES].into) == (12, 1)
    assert [len(files(tmp_path, name)) for name in (*NAMES, SOURCES)] == [2, 2, 1]
    assert frames(tmp_path, "frames") == frames(tmp_path, "calls") == before
    assert not unnamed_files(tmp_path)
    # There is nothing left to do.
    again = {one.table: one for one in maintain(str(tmp_path), unused_hours=0)}
    assert (again["frames"].joined, again[SOURCES].joined) == (0, 0)


def test_rows_of_old_days_and_what_sources_says_of_them_are_removed(tmp_path: Path) -> None:
    for days in range(4):
        publish(tmp_path, f"day-{days}", at=DAY - timedelta(days=days))
    done = maintain(str(tmp_path), keep_days=1, today=DAY.date(), unused_hours=0)
    deleted = {one.table: one.deleted for one in done}
    assert (deleted["frames"], deleted["calls"], deleted[SOURCES]) == (6, 6, 4)
    kept = {capture for capture, _ in frames(tmp_path, "frames")}
    assert kept == {capture for capture, _ in frames(tmp_path, "calls")} == {"day-0", "day-1"}
    rows = DeltaTable(str(tmp_path / SOURCES)).to_pyarrow_table().to_pylist()
    assert {row["source"] for row in rows if row["kind"] != COMPLETE} == kept
    assert len({row["source"] for row in rows if row["kind"] == COMPLETE}) == 2
    dates = {path.parent.parent.name for path in (tmp_path / "frames").rglob("part-*.parquet")}
    assert dates == {f"date={date(2026, 11, day)}" for day in (25, 26)}
    # What was removed may come again: nothing says that it is there.
    publish(tmp_path, "day-3")
    assert frames(tmp_path, "frames")["day-3", 0] == 1


def test_what_interrupted_ingests_left_is_removed_when_it_is_old(tmp_path: Path) -> None:
    publish(tmp_path, "one")
    ledger = Ledger(Location.of(str(tmp_path)))
    left = small_ingest(tmp_path, "two")
    ledger._write_list(f"{left.id}.json", left)
    staging = tmp_path / FOLDER / new_id()
    staging.mkdir()
    (staging / "halves-0.parquet").write_bytes(b"rows")
    maintain(str(tmp_path))
    assert len(list((tmp_path / FOLDER).iterdir())) == 2
    assert len(unnamed_rows(tmp_path)) == 2
    long_ago = time() - timedelta(days=8).total_seconds()
    for path in (*(tmp_path / FOLDER).rglob("*"), *unnamed_files(tmp_path)):
        os.utime(path, (long_ago, long_ago))
    maintain(str(tmp_path))
    assert not list((tmp_path / FOLDER).iterdir())
    assert not unnamed_rows(tmp_path)
    assert set(frames(tmp_path, "frames")) == {("one", event) for event in range(3)}


def unnamed_rows(output: Path) -> list[Path]:
    """Those that no table needs; of `sources` a reader may still need what was joined."""
    return [path for path in unnamed_files(output) if SOURCES not in path.parts]


def written_by_others(output: Path) -> list[Path]:
    """Files that neither kwire nor delta-rs wrote, some of the same names; all old."""
    hour = output / "frames" / "date=2026-11-26" / "hour=3"
    by_spark = hour / f"part-00000-{uuid4()}-c000.snappy.parquet"
    pq.write_table(pa.table({"a": [1]}), by_spark)
    torn = hour / f"part-00001-{uuid4()}-c000.zstd.parquet"
    paths = [by_spark, torn, output / "frames" / "README", output / FOLDER / "notes.json"]
    paths += [hour / "part-1.parquet", output / FOLDER / "mine" / "rows", output / "mine"]
    for path in paths[1:]:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    for path in paths:
        os.utime(path, (0, 0))
    return paths


def test_what_others_wrote_is_left(
    kwire: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        publish(tmp_path, "one", 10 * number)
    paths = written_by_others(tmp_path)
    for _ in range(2):  # the second removes what the first has joined: files of delta-rs
        publish(tmp_path, "one", 100 + 10 * len(files(tmp_path, "frames")))
        done = kwire("pipeline", "maintain", str(tmp_path), "--unused-hours", "0")
        assert done.code == 0, done.err
    told = done.err.splitlines()
    assert told == [f"{tmp_path}/frames: 4 files that kwire did not write: left as found."]
    assert not [path for path in paths if not path.exists()]
    assert len(list((tmp_path / "calls").rglob("part-*.parquet"))) == 1


def test_the_ledger_joins_its_own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MANY == 100
    monkeypatch.setattr("kwire.pipeline.store.ledger.MANY", 4)
    ledger = Ledger(Location.of(str(tmp_path)))
    for number in range(7):
        ledger.look()
        ledger.publish(small_ingest(tmp_path, "one", 10 * number))
    assert len(files(tmp_path, SOURCES)) < 4
    ledger.look()
    assert len(ledger.known(small_ingest(tmp_path, "one", 0, 70).stretches)) == 7


def test_it_runs_beside_a_writer(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.support.pipeline.ledgered", str(tmp_path)]
    runs = 0
    with subprocess.Popen([*command, "one", "5", "other"], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        while writer.poll() is None:
            maintain(str(tmp_path))
            runs += 1
    assert (writer.returncode, runs > 0) == (0, True)
    expected = {("one", 10 * number + event): 1 for number in range(5) for event in range(3)}
    assert frames(tmp_path, "frames") == frames(tmp_path, "calls") == expected


def test_an_ingest_and_a_stream_go_on_behind_it(
    kwire: Command, spark: SparkSession, tmp_path: Path
) -> None:
    captures, output = tmp_path / "captures", tmp_path / "tables"
    write_recordings(captures, 1)
    stream(followed(spark, str(captures)), str(output), every=None)
    write_recordings(captures, 2, begin=1)
    ingest(spark, [str(captures / "recording-1.avro")], str(output))
    before = plain_rows(output)
    done = kwire("pipeline", "maintain", str(output), "--unused-hours", "0", "--json")
    assert done.code == 0, done.err
    row = next(row for row in done.json if row["table"] == "calls")
    assert row == {"table": "calls", "deleted": 0, "joined": 2, "into": 1, "removed": 2, "left": 0}
    assert plain_rows(output) == before
    summary = stream(followed(spark, str(captures)), str(output), every=None)
    assert (summary.repeated, summary.rows["calls"]) == (2 * CALLS, CALLS)
    exported = tmp_path / "exported"
    copy = kwire("pipeline", "export", str(output), "-o", str(exported))
    assert copy.code == 0, copy.err
    for name in OF_CAPTURES:
        there = duckdb.read_parquet(f"{exported / name}/**/*.parquet", hive_partitioning=True)
        assert len(there) == len(plain_rows(output)[name]) > 0
    again = kwire("pipeline", "export", str(output), "-o", str(exported))
    assert (again.code, again.error) == (1, f"{exported} is not empty: export into a new folder.")
    assert len(recordings_in_frames(output)) == 3


def recordings_in_frames(output: Path) -> set[str]:
    return {capture for capture, _ in frames(output, "frames")}
