"""Writes the tables of metadata logs and snapshots: every record once, whatever was there before.

1. Tasks read slices into staged files, and report which offsets of which logs they have.
2. The tables are made of all staged records, old ones too: a state needs what came before it.
3. Rows that the tables have already are left out: those of a log that is known, by their key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from kwire import message
from kwire.messages.index import METADATA_RECORDS
from kwire.pipeline.arrow_tasks import RecordBatches, map_batches
from kwire.pipeline.columns import struct_of
from kwire.pipeline.opening import opened
from kwire.pipeline.reading.identity import log_identity
from kwire.pipeline.reading.logged import LOGGED, read_logged
from kwire.pipeline.reading.planning import Slice
from kwire.pipeline.reading.rows import read_files
from kwire.pipeline.repeated import tables_with
from kwire.pipeline.spark_columns import spark_schema
from kwire.pipeline.store.files import TableFiles
from kwire.pipeline.store.ledger import Ledger
from kwire.pipeline.store.location import new_file
from kwire.pipeline.store.sources import LOG, Stretch, joined
from kwire.pipeline.tables.partitions import partitions
from kwire.pipeline.tables.quorum import quorum_of_logs
from kwire.pipeline.tables.shape import shaped
from kwire.pipeline.tables.verdicts import log_verdicts
from kwire.pipeline.typed import CONTROL_RECORDS, column_name
from kwire.pipeline.writing.captures import IngestStep, Written
from kwire.pipeline.writing.reports import (
    REPORT,
    TOLD,
    Report,
    encoded,
    ensure_same,
    reports_of,
    together,
)
from kwire.pipeline.writing.target import WriteTarget, mark, removed_if_given_up


def records(logged: DataFrame) -> DataFrame:
    """Return a row for every row of LOGGED."""
    names = [*METADATA_RECORDS.values(), *CONTROL_RECORDS.values()]
    columns = {
        column_name(name): f.when(
            f.col("name") == name, f.from_json("body", spark_schema(struct_of(message(name))))
        )
        for name in names
        if message(name).fields
    }
    return shaped(logged.withColumns(columns), "records")


OF_LOGS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "records": records,
    "quorum": quorum_of_logs,
    "partitions": partitions,
    "verdicts": log_verdicts,
}

LOST = "lost"

KEYS = {
    "records": ("log", "snapshot", "offset", "epoch", LOST),
    "quorum": ("log", "snapshot", "offset", "epoch", "what"),
    "partitions": ("log", "offset", "epoch", "topic_id", "partition"),
    "verdicts": ("log", "snapshot", "offset", "epoch", "check", LOST),
}
"""The columns that tell a row of a log from all others; lost: the sentence about lost bytes."""


class LogTablesWriter:
    """Writes the tables of slices of logs, as often as the ledger asks for it."""

    def __init__(
        self, spark: SparkSession, ledger: Ledger, target: WriteTarget, slices: Sequence[Slice]
    ) -> None:
        self._spark, self._ledger, self._target, self._slices = spark, ledger, target, slices
        self._staged = Report()

    def begin(self, on_step: IngestStep) -> None:
        """Take step 1."""
        mark(self._target)
        on_step("reading records")
        slices = self._spark.sparkContext.broadcast(list(self._slices))
        tasks = self._spark.range(0, len(self._slices), 1, len(self._slices))
        staging = partial(_stage, self._target, slices)
        self._staged = together(reports_of(map_batches(tasks, staging, REPORT)))

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that it writes."""
        return self._target.tables

    @property
    def read(self) -> Report:
        """The report of step 1."""
        return self._staged

    def complete(self, on_step: IngestStep) -> Written:
        """Take steps 2 and 3. Raises AlreadyThere, CountsDiffer."""
        known = tables_with(self._ledger.known(self._staged.stretches), self._target.tables)
        # 2.
        staged = read_files(self._spark, self._staged.halves, LOGGED)
        if self._has_copies():
            staged = _keyed(staged).dropDuplicates(list(KEYS["records"])).drop(LOST)
        whole = Report()
        for name in self._target.tables:
            on_step(f"writing {name}")
            rows = OF_LOGS[name](staged)
            # 3.
            rows = self._new(rows, name) if known else rows
            tasks = map_batches(rows, partial(_write, self._target, name), REPORT)
            whole.add(together(reports_of(tasks)))
        repeated = 0
        if "records" in self._target.tables:
            repeated = self._staged.read - whole.rows.get("records", 0)
            if not known and not self._has_copies():
                ensure_same(self._staged.read, whole.rows.get("records", 0), "records")
        stretches = joined(self._staged.stretches) if whole.rows else []
        return Written(report=whole, stretches=stretches, kept=frozenset(), repeated=repeated)

    def _has_copies(self) -> bool:
        """Return True if two files may be of the same log, as a folder and its copy are."""
        names = Counter(
            (log_identity(part.file.folder).log, part.file.name, part.start)
            for part in self._slices
        )
        return any(times > 1 for times in names.values())

    def _new(self, rows: DataFrame, name: str) -> DataFrame:
        there = opened(self._spark, self._ledger, name)
        logs = sorted({stretch.source for stretch in self._staged.stretches})
        known = _keyed(there.where(f.col("log").isin(logs))).select(*KEYS[name]).distinct()
        same = [f.col(f"rows.{key}").eqNullSafe(f.col(f"there.{key}")) for key in KEYS[name]]
        return _keyed(rows).alias("rows").join(known.alias("there"), same, "left_anti").drop(LOST)


def _keyed(rows: DataFrame) -> DataFrame:
    """Add the sentence about bytes that cannot be read: such a row has no offset."""
    sentence = next((name for name in ("error", "detail") if name in rows.columns), None)
    text = f.lit(None).cast("string") if sentence is None else f.col(sentence)
    return rows.withColumn(LOST, f.when(f.col("offset").isNull(), text))


def _stage(target: WriteTarget, slices: Any, numbers: RecordBatches) -> Iterator[pa.RecordBatch]:
    """Read the slices that Spark gives this task into staged files; report them."""
    for batch in numbers:
        for number in batch["id"].to_pylist():
            with removed_if_given_up(target):
                report = _staged(target, slices.value[number], number)
            yield encoded(report)


def _staged(target: WriteTarget, part: Slice, number: int) -> Report:
    report, path = Report(part=number), f"{target.staging}/records-{uuid4().hex}.parquet"
    identity = log_identity(part.file.folder)
    writer = None
    with new_file(path) as stream:
        for rows in read_logged(part):
            writer = writer or pq.ParquetWriter(stream, rows.schema, compression="zstd")
            writer.write_batch(rows)
            _follow(report, rows, identity.log, part.file.path)
        if writer is not None:
            writer.close()
    if writer is None:
        return report
    report.halves = [path]
    for stretch in report.stretches:
        stretch.cluster_id, stretch.node_id = identity.cluster_id, identity.node_id
    return report


def _follow(report: Report, rows: pa.RecordBatch, log: str, file: str) -> None:
    """Count the records of a batch; note their offsets, and what cannot be read."""
    report.read += rows.num_rows
    lost = rows["error"].filter(pc.is_null(rows["offset"]))
    report.damaged += len(lost)
    report.damages += lost[: TOLD - len(report.damages)].to_pylist()
    offsets, times = (
        pc.min_max(rows["offset"]).as_py(),
        pc.min_max(rows["at"].cast("int64")).as_py(),
    )
    first, last = offsets["min"], offsets["max"]
    stretch = Stretch(
        kind=LOG,
        source=log,
        file=file,
        first=0 if first is None else first,
        last=0 if last is None else last,
        begin=times["min"],
        end=times["max"],
        rows=rows.num_rows,
    )
    report.stretches = joined([*report.stretches, stretch])


def _write(target: WriteTarget, table: str, rows: RecordBatches) -> Iterator[pa.RecordBatch]:
    """Write the rows of one table; report its files."""
    report = Report()
    writing = TableFiles(target.output, target.ingest)
    with removed_if_given_up(target), writing as files:
        for batch in rows:
            if batch.num_rows:
                files.write(table, batch)
    report.wrote(files)
    yield encoded(report)
