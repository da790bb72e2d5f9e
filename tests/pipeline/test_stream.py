"""`kwire pipeline stream`, killed and started again, makes the tables that `ingest` makes."""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from shutil import copyfile

import msgspec
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kwire.capture import CaptureFile, RecordEncoder, read_capture
from kwire.capture.file import hidden
from kwire.pipeline.decoding import decode_batch
from kwire.pipeline.ingest import ingest
from kwire.pipeline.schemas import OF_CAPTURES
from kwire.pipeline.store.maintenance import maintain
from kwire.pipeline.streaming.captures import captures as followed
from kwire.pipeline.streaming.job import FOLDER, OutOfStep
from kwire.pipeline.streaming.job import stream as run
from kwire.pipeline.tables.calls import ORPHAN
from kwire.pipeline.writing.reports import Report
from kwire.pipeline.writing.target import WriteTarget, mark
from kwire.pipeline.writing.tasks import settle
from tests.support.capture.capture_records import record, write
from tests.support.cli.command import KWIRE, Command
from tests.support.pipeline.captured_rows import AT, batch, row
from tests.support.pipeline.command_process import QUICK
from tests.support.pipeline.decodable_calls import call, write_captures
from tests.support.pipeline.recordings import plain_rows, rows_of

LAST = "night-1.avro"
OPTIONS = ("--once", "--files", "1", "--master", "local[2]")


@pytest.fixture(autouse=True)
def _ends_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kwire.pipeline.streaming.job.PAUSE", 0.02)


def stream(folder: Path, output: Path, until: str, end: signal.Signals) -> tuple[int, list[str]]:
    """The command gets a signal, with its JVM, as soon as it says `until`: its exit code, and what
    it says from then on."""
    command = [str(KWIRE), "pipeline", "stream", str(folder), "--output", str(output), *OPTIONS]
    with subprocess.Popen(
        command,
        env=os.environ | QUICK,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        before = []
        for line in process.stderr:
            before.append(line)
            if until in line:
                os.killpg(process.pid, end)
                break
        behind = process.stderr.read().splitlines()
        assert until in before[-1], before
        return process.wait(), behind


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_killed_twice_and_interrupted_it_makes_the_tables_of_ingest(
    spark: SparkSession, kwire: Command, tmp_path: Path
) -> None:
    folder, streamed, ingested = (tmp_path / name for name in ("captures", "streamed", "ingested"))
    folder.mkdir()
    write_captures(folder, captures=2)
    (folder / LAST).rename(hidden(folder / LAST))
    killed = -signal.SIGKILL
    assert stream(folder, streamed, "batch 0: reading frames", signal.SIGKILL)[0] == killed
    assert not (streamed / "frames" / "_delta_log").exists()
    assert stream(folder, streamed, "batch 0: committing", signal.SIGKILL)[0] == killed
    hidden(folder / LAST).rename(folder / LAST)
    code, said = stream(folder, streamed, "batch 1: reading frames", signal.SIGINT)
    # The batch may get to its next step before it hears of the end; nothing else is said.
    assert (code, [line for line in said if "batch 1: " not in line]) == (130, [])
    copy = Path(copyfile(folder / LAST, folder / "copy.avro"))
    last = kwire("pipeline", "stream", str(folder), "--output", str(streamed), *OPTIONS, "--json")
    assert last.code == 0, last.err
    assert last.json["repeated"] == len(list(read_capture(folder / LAST)))
    copy.unlink()
    ingest(spark, [str(folder)], str(ingested))
    assert plain_rows(streamed) == plain_rows(ingested)


def test_a_batch_that_cannot_be_read_ends_the_stream_with_its_reason(
    spark: SparkSession, kwire: Command, tmp_path: Path
) -> None:
    file = CaptureFile(tmp_path / "new.avro", version=9)
    file.write(RecordEncoder().encode(record()))
    file.close()
    output = str(tmp_path / "tables")
    run = kwire("pipeline", "stream", str(tmp_path), "--output", output, *OPTIONS)
    assert run.code == 1
    assert "new.avro, byte 0: capture version 9, this kwire reads 1 to" in run.error


def test_a_capture_with_an_old_time_of_modification_is_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder, output = tmp_path / "captures", tmp_path / "tables"
    folder.mkdir()
    old = tmp_path / "old.avro"
    write(folder / "new.avro", [entry for event in range(4) for entry in call(event)])
    write(old, [entry for event in range(4, 8) for entry in call(event)])
    os.utime(old, (1_500_000_000, 1_500_000_000))
    for turn in (1, 2):
        summary = run(followed(spark, str(folder)), str(output), every=None)
        assert (len(summary.read), summary.rows["calls"]) == (1, 4)
        if turn == 1:
            old.rename(folder / old.name)


def test_batches_make_the_tables_of_ingest_whatever_is_maintained_between(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Every tenth response comes in the next capture, which is the next batch."""
    folder, streamed, ingested = (tmp_path / name for name in ("captures", "streamed", "ingested"))
    folder.mkdir()
    write_captures(folder, captures=3)
    captures = sorted(folder.iterdir())
    for path in captures:
        path.rename(hidden(path))
    for path in captures:
        hidden(path).rename(path)
        run(followed(spark, str(folder)), str(streamed), every=None)
        maintain(str(streamed), unused_hours=0)
    ingest(spark, [str(folder)], str(ingested))
    assert plain_rows(streamed) == plain_rows(ingested)
    batches = [row["first"] for row in rows_of(streamed, "sources") if row["kind"] == "BATCH"]
    assert sorted(batches) == [0, 1, 2]
    assert not list((streamed / FOLDER / "waiting").glob("*/*"))


def test_a_checkpoint_without_its_tables_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    folder, output = tmp_path / "captures", tmp_path / "tables"
    folder.mkdir()
    write_captures(folder, captures=1)
    run(followed(spark, str(folder)), str(output), every=None)
    for table in (*OF_CAPTURES, "sources"):
        shutil.rmtree(output / table, ignore_errors=True)
    write(folder / "more.avro", [entry for event in range(900, 904) for entry in call(event)])
    with pytest.raises(OutOfStep, match="has read 1 batches that are not in the tables: restore"):
        run(followed(spark, str(folder)), str(output), every=None)


def test_tables_without_their_checkpoint_get_nothing_twice(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder, output = tmp_path / "captures", tmp_path / "tables"
    folder.mkdir()
    write_captures(folder, captures=2)
    first = run(followed(spark, str(folder)), str(output), every=None)
    before = plain_rows(output)
    shutil.rmtree(output / FOLDER)
    again = run(followed(spark, str(folder)), str(output), every=None)
    assert (again.repeated, again.rows) == (first.rows["frames"], {})
    assert plain_rows(output) == before


def test_a_stream_that_begins_anew_takes_over_what_waits(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder, streamed, ingested = (tmp_path / name for name in ("captures", "streamed", "ingested"))
    folder.mkdir()
    write_captures(folder, captures=2)
    last = folder / LAST
    last.rename(hidden(last))
    run(followed(spark, str(folder)), str(streamed), every=None)
    shutil.rmtree(streamed / FOLDER / "checkpoint")
    hidden(last).rename(last)
    run(followed(spark, str(folder)), str(streamed), every=None)
    ingest(spark, [str(folder)], str(ingested))
    assert plain_rows(streamed) == plain_rows(ingested)


def test_what_waits_too_long_is_settled_without_its_other_half(tmp_path: Path) -> None:
    made = [
        row(0, ending="ANSWERED"),  # too late
        row(1, kind="RESPONSE"),  # too late
        row(20, ending="ANSWERED"),
        row(21, kind="RESPONSE"),
        row(23, ending="ANSWERED"),
        row(23, kind="RESPONSE"),
    ]
    folders = [str(tmp_path / name) for name in ("staging", "waiting")]
    target = WriteTarget(str(tmp_path / "tables"), "one", ("calls",), *folders)
    mark(target)
    (answer,) = settle(target, AT + 10, [decode_batch(batch(made))])
    report = msgspec.json.decode(answer["report"][0].as_py(), type=Report)
    calls = pq.read_table(tmp_path / "tables" / "calls" / report.files[0].path)
    outcomes = dict(zip(calls["event"].to_pylist(), calls["outcome"].to_pylist(), strict=True))
    assert outcomes == {0: "ANSWERED", 1: ORPHAN, 23: "ANSWERED"}
    (waiting,) = report.halves
    assert Path(waiting).parent.name == "waiting"
    assert sorted(pq.read_table(waiting)["event"].to_pylist()) == [20, 21]
