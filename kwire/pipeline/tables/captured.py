"""The tables of captures, made from decoded frames without Spark: batch after batch, as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import pyarrow as pa

from kwire.pipeline.schemas import arrow_schema_of
from kwire.pipeline.tables.calls import call_rows
from kwire.pipeline.tables.frame_verdicts import frame_verdicts
from kwire.pipeline.tables.messages import message_rows
from kwire.pipeline.tables.pairing import FramePairing, Pairs
from kwire.pipeline.tables.quorum_rpcs import quorum_rows

TableRows = tuple[str, pa.RecordBatch]
"""The name of a table, and rows of it."""


def frame_rows(decoded: pa.RecordBatch) -> pa.RecordBatch:
    """Return a row of `frames` for every row, without the bodies."""
    return decoded.select(arrow_schema_of("frames").names)


_OF_FRAMES: dict[str, Callable[[pa.RecordBatch], pa.RecordBatch]] = {
    "frames": frame_rows,
    "messages": message_rows,
    "verdicts": frame_verdicts,
}
_OF_PAIRS: dict[str, Callable[[Pairs], pa.RecordBatch]] = {
    "calls": call_rows,
    "quorum": quorum_rows,
}

PAIRED = frozenset(_OF_PAIRS)
"""Tables whose rows are made of a request and its response."""


class CapturedTables:
    """Makes the rows of the tables of captures from decoded frames, batch after batch."""

    def __init__(self, tables: Collection[str]) -> None:
        self._of_frames = {name: make for name, make in _OF_FRAMES.items() if name in tables}
        self._of_pairs = {name: make for name, make in _OF_PAIRS.items() if name in tables}
        self._pairing = FramePairing()

    def take(self, decoded: pa.RecordBatch) -> Iterator[TableRows]:
        """Yield the rows that a batch of DECODED makes; of one table at once, in parts, or none."""
        for name, make in self._of_frames.items():
            rows = make(decoded)
            if rows.num_rows:
                yield name, rows
        if self._of_pairs:
            for pairs in self._pairing.take(decoded):
                yield from self._of(pairs)

    def halves(self) -> pa.RecordBatch | None:
        """Return the rows of DECODED that wait for their other half: None if there are none.

        They are answered requests, and responses. The other halves may be in another slice.
        """
        return self._pairing.halves()

    def finish(self) -> Iterator[TableRows]:
        """Yield the rows that halves make if their other halves do not come."""
        for pairs in self._pairing.finish():
            yield from self._of(pairs)

    def _of(self, pairs: Pairs) -> Iterator[TableRows]:
        for name, make in self._of_pairs.items():
            rows = make(pairs)
            if rows.num_rows:
                yield name, rows
