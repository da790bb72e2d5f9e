"""Goes through metadata logs in order, with one state for each log, over any number of batches.

A log may begin at a snapshot, the oldest one there is: Kafka deletes the log before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.errors import DecodeError
from kwire.logdir.names import BOOTSTRAP_CHECKPOINT
from kwire.pipeline.session import BATCH_ROWS

BOOTSTRAP = BOOTSTRAP_CHECKPOINT.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class RecordPosition:
    """The position of a record in a log. last: True if it ends its batch."""

    log: str
    offset: int
    epoch: int
    at: datetime | None
    last: bool = True

    def columns(self) -> dict[str, Any]:
        """Return the position as columns of a row."""
        return {"log": self.log, "offset": self.offset, "epoch": self.epoch, "at": self.at}


class Fold(Protocol):
    """The state of one log."""

    def take(self, position: RecordPosition, record: VersionedRecord) -> Iterator[dict[str, Any]]:
        """Apply a record; yield the rows that it makes."""

    def restored(self, position: RecordPosition) -> Iterator[dict[str, Any]]:
        """Yield rows for the snapshot that the log begins at; `position` is the snapshot's end."""


def in_order(logged: DataFrame) -> DataFrame:
    """Sort the metadata records, each log in one task: snapshots from the newest on, then the log.

    The oldest snapshot then stands right before the log that goes on from it.
    """
    records = logged.where(f.col("error").isNull() & ~f.col("control"))
    # bootstrap.checkpoint is no state of the log: its first leader writes these records into it.
    records = records.where(f.coalesce("snapshot", f.lit("")) != BOOTSTRAP)
    columns = ["log", "snapshot", "offset", "epoch", "at", "last_offset", "value"]
    by_log = records.select(columns).repartition("log")
    return by_log.sortWithinPartitions("log", f.col("snapshot").desc_nulls_last(), "offset")


def folded(
    batches: Iterable[pa.RecordBatch], make: Callable[[], Fold], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all logs in these batches, in batches of a schema."""
    waiting: list[dict[str, Any]] = []
    for row in _rows(batches, make):
        waiting.append(row)
        if len(waiting) == BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(waiting, schema)
            waiting = []
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, schema)


def _rows(batches: Iterable[pa.RecordBatch], make: Callable[[], Fold]) -> Iterator[dict[str, Any]]:
    """Yield the rows of all logs.

    1. A snapshot's records make the state anew; the one that comes last is the oldest.
    2. The log goes on from it if it begins behind it, else from nothing.
    3. If there are only snapshots of a log, the oldest of them gives its rows.
    """
    log: str | None = None
    fold, snapshot, end = make(), None, None
    for row in (row for batch in batches for row in batch.to_pylist()):
        if row["log"] != log:
            # 3.
            if end is not None:
                yield from fold.restored(end)
            log, fold, snapshot, end = row["log"], make(), None, None
        # 1.
        if row["snapshot"] is not None:
            if row["snapshot"] != snapshot:
                fold, snapshot = make(), row["snapshot"]
            end = _end(row)
            _take(fold, row)
            continue
        # 2.
        if end is not None:
            if row["offset"] > end.offset:
                yield from fold.restored(end)
            else:
                fold = make()
            end = None
        yield from _take(fold, row)
    if end is not None:
        yield from fold.restored(end)


def _take(fold: Fold, row: dict[str, Any]) -> list[dict[str, Any]]:
    position = RecordPosition(
        row["log"], row["offset"], row["epoch"], row["at"], row["offset"] == row["last_offset"]
    )
    try:
        record = read_metadata_record(row["value"] or b"")
    except DecodeError:  # the table `records` has the error
        return []
    return list(fold.take(position, record))


def _end(row: dict[str, Any]) -> RecordPosition:
    """Return the last position in a snapshot: its name is OFFSET-EPOCH, the offset behind it."""
    offset, epoch = map(int, row["snapshot"].split("-"))
    return RecordPosition(row["log"], offset - 1, epoch, row["at"])
