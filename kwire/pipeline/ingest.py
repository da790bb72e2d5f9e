"""Makes tables of captures and metadata logs: `kwire pipeline ingest`.

1. Find the files, and refuse what cannot be read before anything starts.
2. Decode every frame once, in the task that reads it, into a folder of its own below the output.
3. Refuse captures that the tables have already; take frames that come twice once.
4. Write the tables of captures from that folder; compare the counts of rows in and out.
5. The same for the records of logs and snapshots.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, sleep
from uuid import uuid4

import fsspec
from pyspark.sql import DataFrame, Observation, SparkSession

from kwire.pipeline.counting import count_rows, ensure_same, failures
from kwire.pipeline.reading.avro import read_avro
from kwire.pipeline.reading.logged import LOGGED as LOGGED_ROWS
from kwire.pipeline.reading.planning import SPLIT, plan
from kwire.pipeline.reading.source import KwireSource
from kwire.pipeline.reading.storage import CAPTURED, LOGGED, File, find
from kwire.pipeline.repeated import ensure_new, once, repeats
from kwire.pipeline.staging import Staged, stage_captured, stage_slices
from kwire.pipeline.tables.calls import calls
from kwire.pipeline.tables.frames import frames, messages
from kwire.pipeline.tables.partitions import partitions
from kwire.pipeline.tables.quorum import quorum_of_captures, quorum_of_logs
from kwire.pipeline.tables.records import records
from kwire.pipeline.tables.verdicts import frame_verdicts, log_verdicts

Step = Callable[[str], None]
"""Called with the name of each step, as `writing calls`."""

Stage = Callable[..., Staged]
"""Decodes captures into a folder: `stage_slices` or `stage_captured`, with its input bound."""

TASKS_END = 10.0
"""Seconds for cancelled tasks to end; Spark kills a Python worker after two."""

PAUSE = 0.1

Tables = dict[str, Callable[[DataFrame], DataFrame]]

OF_CAPTURES: Tables = {
    "frames": frames,
    "calls": calls,
    "messages": messages,
    "quorum": quorum_of_captures,
    "verdicts": frame_verdicts,
}

WITH_BODIES = frozenset({"messages", "quorum"})
"""Tables of captures that need the content of messages: JSON is half of the cost of decoding."""

OF_LOGS: Tables = {
    "records": records,
    "quorum": quorum_of_logs,
    "partitions": partitions,
    "verdicts": log_verdicts,
}


@dataclass(slots=True, kw_only=True)
class Summary:
    """The result. read: files. rows: written, by table. frames: read, by status.

    repeated: frames of these that had come before, and are not written again. damages: sentences
    about bytes that could not be read, with file and offset. failed: failed verdicts, by check.
    """

    read: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    frames: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
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
    on_step: Step = lambda table: None,
    summary: Summary | None = None,
) -> Summary:
    """Write the tables of everything that paths stand for below `output`, behind what is there.

    tables: only these; all by default. avro: read captures with Spark's own reader, whatever
    storage they are in. split: bytes of a file that one task reads. summary: is filled meanwhile;
    its `rows` name the tables that are written whole.
    Raises NothingToRead, FileError, AlreadyThere before a table is written; CountsDiffer.
    """
    summary = Summary() if summary is None else summary
    if avro:
        summary.read = list(paths)
        job = _Ingestion(spark, output, tuple(tables), on_step, summary)
        job.captures(partial(stage_captured, read_avro(spark, paths)))
        return summary
    files = readable(paths)
    summary.read = [file.path for file in files]
    job = _Ingestion(spark, output, tuple(tables), on_step, summary)
    captured = [file for file in files if file.kind in CAPTURED]
    if captured:
        job.captures(partial(stage_slices, spark, plan(captured, split)))
    logged = [file.path for file in files if file.kind in LOGGED]
    if logged:
        job.logs(read_kwire(spark, logged, "records", split))
    return summary


def readable(paths: Sequence[str]) -> list[File]:
    """Return the files that paths stand for, without a session. Raises NothingToRead, FileError."""
    files = find(paths, CAPTURED | LOGGED)
    plan(files)
    return files


def read_kwire(spark: SparkSession, paths: Sequence[str], rows: str, split: int) -> DataFrame:
    """Read `frames` (CAPTURED) or `records` (LOGGED) of files through the data source in Python."""
    spark.dataSource.register(KwireSource)
    reader = spark.read.format("kwire").option("rows", rows).option("split", str(split))
    return reader.option("paths", json.dumps(list(paths))).load()


@dataclass(frozen=True, slots=True)
class _Ingestion:
    spark: SparkSession
    output: str
    only: tuple[str, ...]
    on_step: Step
    summary: Summary

    def captures(self, stage: Stage) -> None:
        """Write the tables of captures; count frames when read, when staged, and when written."""
        with self._folder("frames") as folder:
            # 2.
            staged = stage(folder, bodies=bool(WITH_BODIES & set(self._chosen(OF_CAPTURES))))
            ensure_same(staged.read, staged.written, "frames")
            self.summary.frames = {name: count for name, count in staged.counts.items() if count}
            self.summary.damages += staged.damages
            decoded = staged.frame(self.spark, folder)
            # 3.
            ensure_new(decoded, self.output, self._chosen(OF_CAPTURES))
            if not staged.once:
                self.summary.repeated = repeats(decoded)
            if self.summary.repeated:
                decoded = once(decoded)
            # 4.
            self._write(decoded, staged.written - self.summary.repeated, OF_CAPTURES)

    def logs(self, logged: DataFrame) -> None:
        """Write the tables of logs; count records when read, and when written."""
        with self._folder("records") as folder:
            counted = Observation()
            observed = logged.observe(counted, count_rows())
            observed.write.option("compression", "lz4").parquet(folder)
            staged = self.spark.read.schema(LOGGED_ROWS).parquet(folder)
            broken = staged.where("offset is null").select("error")
            self.summary.damages += [row.error for row in broken.collect()]
            self._write(staged, int(counted.get["rows"]), OF_LOGS)

    @contextmanager
    def _folder(self, what: str) -> Iterator[str]:
        """Give a folder for staged rows, which every table is made from; remove it in the end."""
        self.on_step(f"reading {what}")
        folder = f"{self.output}/staging-{uuid4().hex}"
        try:
            yield folder
        except BaseException:
            # A task that still runs would write its file again after the folder is removed.
            _wait_for_tasks(self.spark)
            raise
        finally:
            _remove(folder)

    def _write(self, staged: DataFrame, rows: int, tables: Tables) -> None:
        for name in self._chosen(tables):
            self.on_step(f"writing {name}")
            count = self._append(tables[name](staged), name)
            self.summary.rows[name] = self.summary.rows.get(name, 0) + count
            if name in ("frames", "records"):
                ensure_same(rows, count, name)

    def _chosen(self, tables: Tables) -> list[str]:
        return [name for name in tables if not self.only or name in self.only]

    def _append(self, rows: DataFrame, table: str) -> int:
        """Append rows to a table; return how many."""
        written = Observation()
        counts = failures() if table == "verdicts" else []
        observed = rows.observe(written, count_rows(), *counts)
        observed.write.mode("append").partitionBy("date", "hour").parquet(f"{self.output}/{table}")
        observed_counts = dict(written.get)
        count = int(observed_counts.pop("rows"))
        for check, failed in observed_counts.items():
            if failed:
                self.summary.failed[check] = self.summary.failed.get(check, 0) + failed
        return count


def _wait_for_tasks(spark: SparkSession) -> None:
    """Wait until the tasks of a failed job have ended: they go on writing for a moment."""
    until = monotonic() + TASKS_END
    with suppress(Exception):  # the JVM may be gone, and all tasks with it
        status = spark.sparkContext._jsc.sc().statusTracker()
        while monotonic() < until:
            if not sum(executor.numRunningTasks() for executor in status.getExecutorInfos()):
                return
            sleep(PAUSE)


def _remove(folder: str) -> None:
    filesystem, path = fsspec.core.url_to_fs(folder)
    if filesystem.exists(path):
        filesystem.rm(path, recursive=True)
