"""Captures and metadata logs become tables: `kwire pipeline ingest`.

1. Find the files, and refuse what cannot be read before anything starts.
2. Decode every frame once, into a folder of its own below the output.
3. Write the tables of captures from it; count what went in and what came out.
4. The same for the records of logs and snapshots.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import fsspec
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as f

from pipeline.counting import count_rows, ensure_same, failures, statuses
from pipeline.decoding import DECODED, decode_batches
from pipeline.reading.avro import read_avro
from pipeline.reading.captured import DAMAGE
from pipeline.reading.planning import SPLIT, plan
from pipeline.reading.source import KwireSource
from pipeline.reading.storage import CAPTURED, LOGGED, File, find
from pipeline.tables.calls import calls
from pipeline.tables.frames import frames
from pipeline.tables.messages import messages
from pipeline.tables.partitions import partitions
from pipeline.tables.quorum import quorum_of_captures, quorum_of_logs
from pipeline.tables.records import records
from pipeline.tables.verdicts import frame_verdicts, log_verdicts

Step = Callable[[str], None]
"""Told of each table that is being written."""

Tables = dict[str, Callable[[DataFrame], DataFrame]]

OF_CAPTURES: Tables = {
    "frames": frames,
    "calls": calls,
    "messages": messages,
    "quorum": quorum_of_captures,
    "verdicts": frame_verdicts,
}

OF_LOGS: Tables = {
    "records": records,
    "quorum": quorum_of_logs,
    "partitions": partitions,
    "verdicts": log_verdicts,
}


@dataclass(slots=True, kw_only=True)
class Summary:
    """What was done. read: files. rows: written, by table. frames: read, by status.

    damages: sentences about what could not be read, with file and offset. failed: verdicts that do
    not hold, by check.
    """

    read: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    frames: dict[str, int] = field(default_factory=dict)
    damages: list[str] = field(default_factory=list)
    failed: dict[str, int] = field(default_factory=dict)


def ingest(
    spark: SparkSession,
    paths: Sequence[str],
    output: str,
    *,
    tables: Sequence[str] = (),
    avro: bool = False,
    split: int = SPLIT,
    told: Step = lambda table: None,
) -> Summary:
    """Write the tables of everything that paths stand for below `output`, behind what is there.

    tables: only these; all by default. avro: read captures with Spark's own reader, whatever
    storage they are in. split: bytes of a file that one task reads.
    Raises NothingToRead, FileError before anything is written; CountsDiffer.
    """
    if avro:
        summary = Summary(read=list(paths))
        _Job(spark, output, tuple(tables), told, summary).captures(read_avro(spark, paths))
        return summary
    files = readable(paths)
    summary = Summary(read=[file.path for file in files])
    job = _Job(spark, output, tuple(tables), told, summary)
    captured = [file.path for file in files if file.kind in CAPTURED]
    if captured:
        job.captures(read_kwire(spark, captured, "frames", split))
    logged = [file.path for file in files if file.kind in LOGGED]
    if logged:
        job.logs(read_kwire(spark, logged, "records", split))
    return summary


def readable(paths: Sequence[str]) -> list[File]:
    """The files that paths stand for; it needs no session. Raises NothingToRead, FileError."""
    files = find(paths, CAPTURED | LOGGED)
    plan(files)
    return files


def read_kwire(spark: SparkSession, paths: Sequence[str], rows: str, split: int) -> DataFrame:
    """`frames` (CAPTURED) or `records` (LOGGED) of files, through the data source in Python."""
    spark.dataSource.register(KwireSource)
    reader = spark.read.format("kwire").option("rows", rows).option("split", str(split))
    return reader.option("paths", json.dumps(list(paths))).load()


@dataclass(frozen=True, slots=True)
class _Job:
    spark: SparkSession
    output: str
    only: tuple[str, ...]
    told: Step
    summary: Summary

    def captures(self, captured: DataFrame) -> None:
        """Frames are counted before they are decoded, behind it, and as they are written."""
        read = Observation()
        counted = captured.observe(read, count_rows())
        with self._staged(counted.mapInArrow(decode_batches, DECODED), "frames") as staged:
            self.summary.frames = {name: count for name, count in staged.counts.items() if count}
            ensure_same(int(read.get["rows"]), staged.rows, "frames")
            damages = staged.frame.where(f.col("notice") == DAMAGE).select("text")
            self.summary.damages += [row.text for row in damages.collect()]
            self._write(staged, OF_CAPTURES)

    def logs(self, logged: DataFrame) -> None:
        """Records are counted as they are read, and as they are written."""
        with self._staged(logged, "records") as staged:
            broken = staged.frame.where("offset is null").select("error")
            self.summary.damages += [row.error for row in broken.collect()]
            self._write(staged, OF_LOGS)

    @contextmanager
    def _staged(self, rows: DataFrame, what: str) -> Iterator[Staged]:
        """Decoded once, read by every table; gone in the end."""
        self.told(f"reading {what}")
        folder = f"{self.output}/staging-{uuid4().hex}"
        counted = Observation()
        counts = statuses() if what == "frames" else []
        if what == "frames" and self.only and not {"messages", "quorum"} & set(self.only):
            rows = rows.drop("body")  # which is most of what would be written
        try:
            observed = rows.observe(counted, count_rows(), *counts)
            observed.write.option("compression", "lz4").parquet(folder)
            found = dict(counted.get)
            yield Staged(self.spark.read.parquet(folder), found.pop("rows"), found)
        finally:
            _remove(folder)

    def _write(self, staged: Staged, tables: Tables) -> None:
        for name, make in tables.items():
            if self.only and name not in self.only:
                continue
            self.told(f"writing {name}")
            count = self._append(make(staged.frame), name)
            self.summary.rows[name] = self.summary.rows.get(name, 0) + count
            if name in ("frames", "records"):
                ensure_same(staged.rows, count, name)

    def _append(self, rows: DataFrame, table: str) -> int:
        """Write rows behind those of a table, and give how many."""
        written = Observation()
        counts = failures() if table == "verdicts" else []
        observed = rows.observe(written, count_rows(), *counts)
        observed.write.mode("append").partitionBy("date", "hour").parquet(f"{self.output}/{table}")
        found = dict(written.get)
        count = int(found.pop("rows"))
        for check, failed in found.items():
            if failed:
                self.summary.failed[check] = self.summary.failed.get(check, 0) + failed
        return count


@dataclass(frozen=True, slots=True)
class Staged:
    """What was read and decoded. rows: how many; counts: of them, by status."""

    frame: DataFrame
    rows: int
    counts: dict[str, int]


def _remove(folder: str) -> None:
    filesystem, path = fsspec.core.url_to_fs(folder)
    if filesystem.exists(path):
        filesystem.rm(path, recursive=True)
