"""`kwire pipeline stream`, killed and started again, makes the tables that `ingest` makes."""

import os
import signal
import subprocess
from pathlib import Path
from shutil import copyfile

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from kwire.capture import CaptureFile, RecordEncoder, read_capture
from kwire.capture.file import hidden
from kwire.pipeline.decoding import CAPTURED, DECODED, decode_batches
from kwire.pipeline.ingest import OF_CAPTURES, ingest
from kwire.pipeline.streaming.captures import follow_captures
from kwire.pipeline.streaming.job import stream as run
from kwire.pipeline.streaming.settling import settled, waiting
from kwire.pipeline.tables.calls import ORPHAN, calls
from tests.support.capture.capture_records import record, write
from tests.support.cli.command import KWIRE, Command
from tests.support.pipeline.captured_rows import AT, row
from tests.support.pipeline.decodable_calls import call, write_captures
from tests.support.pipeline.streamed_tables import QUICK, rows

LAST = "night-1.avro"
OPTIONS = ("--once", "--files", "1", "--master", "local[2]")


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


@pytest.mark.long
@pytest.mark.timeout(900)
def test_killed_twice_and_interrupted_it_makes_the_tables_of_ingest(
    spark: SparkSession, kwire: Command, tmp_path: Path
) -> None:
    folder, streamed, ingested = (tmp_path / name for name in ("captures", "streamed", "ingested"))
    folder.mkdir()
    write_captures(folder, captures=2)
    (folder / LAST).rename(hidden(folder / LAST))
    killed = -signal.SIGKILL
    assert stream(folder, streamed, "batch 0: writing messages", signal.SIGKILL)[0] == killed
    assert not (streamed / "frames").exists()
    assert stream(folder, streamed, "batch 0: moving to the tables", signal.SIGKILL)[0] == killed
    hidden(folder / LAST).rename(folder / LAST)
    code, said = stream(folder, streamed, "batch 1: writing calls", signal.SIGINT)
    # The batch may get to its next table before it hears of the end; nothing else is said.
    assert (code, [line for line in said if "batch 1: " not in line]) == (130, [])
    copy = Path(copyfile(folder / LAST, folder / "copy.avro"))
    last = kwire("pipeline", "stream", str(folder), "--output", str(streamed), *OPTIONS, "--json")
    assert last.code == 0, last.err
    assert last.json["repeated"] == len(list(read_capture(folder / LAST)))
    copy.unlink()
    ingest(spark, [str(folder)], str(ingested))
    for table in OF_CAPTURES:
        assert rows(spark, streamed, table) == rows(spark, ingested, table), table


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
    for captures in (1, 2):
        summary = run(follow_captures(spark, str(folder)), str(output), every=None)
        assert (len(summary.read), summary.rows["calls"]) == (1, 4)
        if captures == 1:
            old.rename(folder / old.name)


def test_what_waits_too_long_is_settled_without_its_other_half(spark: SparkSession) -> None:
    made = [
        row(0, ending="ANSWERED"),  # too late
        row(1, kind="RESPONSE"),  # too late
        row(20, ending="ANSWERED"),
        row(21, kind="RESPONSE"),
        row(22, ending="LOST"),
        row(23, ending="ANSWERED"),
        row(23, kind="RESPONSE"),
        row(24, kind="NOTICE", notice="OPENED"),
    ]
    found = spark.createDataFrame([tuple(one.values()) for one in made], _numbers())
    captured = found.withColumn("at", f.timestamp_micros("at"))
    decoded = captured.mapInArrow(decode_batches, DECODED).cache()
    waits = waiting(decoded, AT + 10)
    assert _events(waits) == [20, 21]
    done = settled(decoded, waits)
    assert _events(done) == [0, 1, 22, 23, 23, 24]
    outcomes = {entry.event: entry.outcome for entry in calls(done).collect()}
    assert outcomes == {0: "ANSWERED", 1: ORPHAN, 22: "LOST", 23: "ANSWERED"}


def _events(rows: DataFrame) -> list[int]:
    return sorted(entry.event for entry in rows.select("event").collect())


def _numbers() -> str:
    """CAPTURED with times as numbers."""
    columns = [(one.name, one.dataType.simpleString()) for one in CAPTURED]
    return ", ".join(f"{name} {'bigint' if name == 'at' else kind}" for name, kind in columns)
