"""Goes through metadata logs in order, one state a log, however many batches they come in.

What may precede a log is the snapshot it begins at: the oldest one there is, since Kafka keeps no
log that is older than its oldest snapshot says.
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
from kwire.pipeline.session import BATCH_ROWS


@dataclass(frozen=True, slots=True)
class RecordPosition:
    """Where in a log something stands. last: whether it ends its batch."""

    log: str
    offset: int
    epoch: int
    at: datetime | None
    last: bool = True

    def columns(self) -> dict[str, Any]:
        """As columns of a row."""
        return {"log": self.log, "offset": self.offset, "epoch": self.epoch, "at": self.at}


class Fold(Protocol):
    """The state of one log."""

    def take(self, place: RecordPosition, record: VersionedRecord) -> Iterator[dict[str, Any]]:
        """The rows that a record makes."""

    def restored(self, place: RecordPosition) -> Iterator[dict[str, Any]]:
        """The rows for what the snapshot said that the log begins at; `place` is its end."""


def in_order(logged: DataFrame) -> DataFrame:
    """The metadata records, each log in one task: snapshots from the newest on, then the log."""
    found = logged.where(f.col("error").isNull() & ~f.col("control"))
    columns = ["log", "snapshot", "offset", "epoch", "at", "last_offset", "value"]
    by_log = found.select(columns).repartition("log")
    return by_log.sortWithinPartitions("log", f.col("snapshot").desc_nulls_last(), "offset")


def folded(
    batches: Iterable[pa.RecordBatch], make: Callable[[], Fold], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The rows of the folds of all logs in these batches."""
    waiting: list[dict[str, Any]] = []
    for row in _rows(batches, make):
        waiting.append(row)
        if len(waiting) == BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(waiting, schema)
            waiting = []
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, schema)


def _rows(batches: Iterable[pa.RecordBatch], make: Callable[[], Fold]) -> Iterator[dict[str, Any]]:
    """1. A snapshot's records make the state anew; the one that comes last is the oldest.
    2. The log goes on from it where it begins behind it, else from nothing.
    3. A log of which there are snapshots only is told by the oldest of them.
    """
    log: str | None = None
    fold, snapshot, end = make(), None, None
    for row in (row for batch in batches for row in batch.to_pylist()):
        if row["log"] != log:
            if end is not None:
                yield from fold.restored(end)
            log, fold, snapshot, end = row["log"], make(), None, None
        if row["snapshot"] is not None:
            if row["snapshot"] != snapshot:
                fold, snapshot = make(), row["snapshot"]
            end = _end(row)
            _take(fold, row)
            continue
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
    place = RecordPosition(
        row["log"], row["offset"], row["epoch"], row["at"], row["offset"] == row["last_offset"]
    )
    try:
        record = read_metadata_record(row["value"] or b"")
    except DecodeError:  # told of in `records`
        return []
    return list(fold.take(place, record))


def _end(row: dict[str, Any]) -> RecordPosition:
    """The last offset that a snapshot contains: its name is OFFSET-EPOCH, the one behind it."""
    offset, epoch = map(int, row["snapshot"].split("-"))
    return RecordPosition(row["log"], offset - 1, epoch, row["at"])
