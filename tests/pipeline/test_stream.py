"""`kwire pipeline stream`, killed and started again, makes the tables that `ingest` makes."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from kwire.capture.file import hidden
from pipeline.decoding import CAPTURED, DECODED, decode_batches
from pipeline.ingest import OF_CAPTURES, ingest
from pipeline.streaming.settling import settled, waiting
from pipeline.tables.calls import ORPHAN, calls
from tests.cli.command import KWIRE
from tests.pipeline.captured import AT, row
from tests.pipeline.spoken import night

LAST = "night-2.avro"
QUICK = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


def stream(folder: Path, output: Path, *, until: str | None = None) -> int:
    """The command's exit code; it is killed, with its JVM, as soon as it says `until`."""
    options = ["--once", "--files", "1", "--master", "local[2]"]
    command = [str(KWIRE), "pipeline", "stream", str(folder), "--output", str(output), *options]
    with subprocess.Popen(
        command,
        env=os.environ | QUICK,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if until is not None and until in line:
                os.killpg(process.pid, signal.SIGKILL)
                break
        process.stderr.read()
        return process.wait()


def rows(spark: SparkSession, output: Path, table: str) -> list[str]:
    """The rows of a table as sorted JSON."""
    found = spark.read.parquet(str(output / table))
    ordered = found.select(f.to_json(f.struct(*sorted(found.columns))))
    return sorted(row[0] for row in ordered.collect())


@pytest.mark.timeout(900)
def test_killed_twice_it_makes_the_tables_of_ingest(spark: SparkSession, tmp_path: Path) -> None:
    folder, streamed, ingested = (tmp_path / name for name in ("captures", "streamed", "ingested"))
    folder.mkdir()
    night(folder, captures=3)
    (folder / LAST).rename(hidden(folder / LAST))
    assert stream(folder, streamed, until="batch 0: writing messages") == -signal.SIGKILL
    assert not (streamed / "frames").exists()
    assert stream(folder, streamed, until="batch 1: moving to the tables") == -signal.SIGKILL
    hidden(folder / LAST).rename(folder / LAST)
    assert stream(folder, streamed) == 1  # not every frame of that night decodes
    ingest(spark, [str(folder)], str(ingested))
    for table in OF_CAPTURES:
        assert rows(spark, streamed, table) == rows(spark, ingested, table), table


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
    decoded = captured.mapInArrow(decode_batches, DECODED)
    waits = waiting(decoded, AT + 10)
    assert _events(waits) == [20, 21]
    done = settled(decoded, waits)
    assert _events(done) == [0, 1, 22, 23, 23, 24]
    outcomes = {one.event: one.outcome for one in calls(done).collect()}
    assert outcomes == {0: "ANSWERED", 1: ORPHAN, 22: "LOST", 23: "ANSWERED"}


def _events(rows: DataFrame) -> list[int]:
    return sorted(one.event for one in rows.select("event").collect())


def _numbers() -> str:
    """CAPTURED with times as numbers."""
    columns = [(one.name, one.dataType.simpleString()) for one in CAPTURED]
    return ", ".join(f"{name} {'bigint' if name == 'at' else kind}" for name, kind in columns)
