"""The rows of the table `sources`: what an ingest brought into the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pyarrow as pa

from kwire.pipeline.schemas import arrow_schema_of

LOST_US = 1_000_000
"""Events that are missing for less than this, in microseconds, make no gap: a recorder that is too
slow loses some of them.
"""

CAPTURE, LOG, DAMAGE, BATCH = "CAPTURE", "LOG", "DAMAGE", "BATCH"
COMPLETE = "COMPLETE"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Stretch(msgspec.Struct, kw_only=True):
    """Rows of one source that follow each other: of a recording, or of a metadata log.

    kind: CAPTURE, LOG, DAMAGE for bytes that cannot be read, BATCH for the batch of a stream, or
    COMPLETE for an ingest that all tables have. source: id of the recording, or of the log; of
    damage the file, of a batch the query, else the ingest. file: the one they were read from.
    first, last: events, or offsets; of a batch its number. begin, end: in microseconds of Unix
    time; None if no row has a time. cluster_id, node_id: None if nothing tells them.
    """

    kind: str
    source: str
    file: str
    first: int
    last: int
    begin: int | None
    end: int | None
    rows: int
    cluster_id: str | None = None
    node_id: int | None = None

    def goes_on_in(self, other: Stretch) -> bool:
        """Return True if the other one is of the same file, and no gap is between them."""
        return (self.source, self.file) == (other.source, other.file) and not is_gap(
            other.first - self.last, (other.begin or 0) - (self.end or 0)
        )


def completed(ingest: str, stretches: Sequence[Stretch]) -> Stretch:
    """Return the row that tells that all tables have an ingest; it ends with the last of them."""
    ends = [stretch.end for stretch in stretches if stretch.end is not None]
    return Stretch(
        kind=COMPLETE,
        source=ingest,
        file="",
        first=0,
        last=0,
        begin=None,
        # Rows without a time are kept for ever, and so is what tells that they are whole.
        end=max(ends) if len(ends) == len(stretches) else None,
        rows=sum(stretch.rows for stretch in stretches),
    )


def is_gap(events: int, microseconds: int) -> bool:
    """Return True if so many events, and so much time, between two rows are a gap."""
    return events > 1 and microseconds >= LOST_US


def joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return the stretches in order, those that go on in the next one with it as one."""
    order = sorted(stretches, key=lambda one: (one.kind, one.source, one.file, one.first, one.last))
    whole: list[Stretch] = []
    for stretch in order:
        if whole and whole[-1].goes_on_in(stretch):
            whole[-1] = _both(whole[-1], stretch)
        else:
            whole.append(stretch)
    return whole


def _both(left: Stretch, right: Stretch) -> Stretch:
    begins = [time for time in (left.begin, right.begin) if time is not None]
    ends = [time for time in (left.end, right.end) if time is not None]
    return msgspec.structs.replace(
        left,
        last=max(left.last, right.last),
        begin=min(begins, default=None),
        end=max(ends, default=None),
        rows=left.rows + right.rows,
        cluster_id=left.cluster_id or right.cluster_id,
    )


def source_rows(
    stretches: Iterable[Stretch],
    *,
    ingest: str,
    tables: list[str],
    now: datetime,
) -> pa.RecordBatch:
    """Return the rows of `sources` for the stretches of an ingest."""
    common = {"ingest": ingest, "ingested_at": now, "tables": tables}
    rows: list[dict[str, Any]] = [
        common
        | msgspec.structs.asdict(stretch)
        | {"begin": _time(stretch.begin), "end": _time(stretch.end)}
        for stretch in stretches
    ]
    return pa.RecordBatch.from_pylist(rows, arrow_schema_of("sources"))


def _time(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)
