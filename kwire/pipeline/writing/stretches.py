"""Follows the frames of a slice: which stretches of which recordings it has, each frame once.

A recorder numbers events in their order. If the numbers ascend in every slice, and no two slices
overlap, each frame is there once, and nobody looks for repeats (docs/decisions/0026).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kwire.capture import NOTICE, REQUEST, RESPONSE
from kwire.pipeline.store.sources import CAPTURE, DAMAGE, LOST_US, Stretch

_COLUMNS = ["capture", "event", "kind", "at", "file"]
_KINDS = pa.array([REQUEST, RESPONSE, NOTICE])


class FrameRange(NamedTuple):
    """The frames of a recording that a slice has. first, last: see `_ordinals`."""

    capture: str
    first: int
    last: int


class Course:
    """Follows the frames of a slice, batch after batch. unbroken: each is behind the one before."""

    def __init__(self) -> None:
        self.unbroken = True
        self.stretches: list[Stretch] = []
        self._latest: dict[str, Stretch] = {}
        self._ranges: dict[str, FrameRange] = {}
        self._damaged: set[str] = set()

    @property
    def ranges(self) -> list[FrameRange]:
        """The ranges of all recordings in the slice."""
        return list(self._ranges.values())

    def follow(self, decoded: pa.RecordBatch) -> None:
        """Take the rows of a batch."""
        rows = decoded.select(_COLUMNS)
        captures = rows["capture"]
        found = captures.unique().to_pylist()
        for capture in found:
            if capture is None:
                self._damage(rows.filter(pc.is_null(captures)))
            else:
                alone = len(found) == 1
                self._follow(capture, rows if alone else rows.filter(pc.equal(captures, capture)))

    def _damage(self, rows: pa.RecordBatch) -> None:
        for file in rows["file"].unique().to_pylist():
            if file not in self._damaged:
                self._damaged.add(file)
                self.stretches.append(_nothing(DAMAGE, file))

    def _follow(self, capture: str, rows: pa.RecordBatch) -> None:
        ordinals = _ordinals(rows)
        before = self._ranges.get(capture)
        first = int(ordinals[0]) if before is None else before.first
        if before is not None:
            # The last frame of the batch before: the border of two batches is checked, too.
            self.unbroken = self.unbroken and before.last < ordinals[0]
        self.unbroken = self.unbroken and bool((np.diff(ordinals) > 0).all())
        self._ranges[capture] = FrameRange(capture, first, int(ordinals[-1]))
        # A stretch is of one file; a slice has one, but for messages of a topic.
        files = rows["file"]
        found = files.unique().to_pylist()
        for file in found:
            of_file = rows if len(found) == 1 else rows.filter(pc.equal(files, file))
            for stretch in _stretches(capture, file, of_file):
                self._add(stretch)

    def _add(self, stretch: Stretch) -> None:
        latest = self._latest.get(stretch.source)
        if latest is not None and latest.goes_on_in(stretch):
            latest.first = min(latest.first, stretch.first)
            latest.last = max(latest.last, stretch.last)
            latest.begin = min(latest.begin or 0, stretch.begin or 0)
            latest.end = max(latest.end or 0, stretch.end or 0)
            latest.rows += stretch.rows
            return
        self._latest[stretch.source] = stretch
        self.stretches.append(stretch)


def overlapping(ranges: Iterable[FrameRange]) -> set[str]:
    """Return the recordings of which two ranges overlap."""
    ordered = sorted(ranges)
    return {
        left.capture
        for left, right in pairwise(ordered)
        if left.capture == right.capture and left.last >= right.first
    }


def _stretches(capture: str, file: str, rows: pa.RecordBatch) -> list[Stretch]:
    """Cut rows of one recording where events, and a second or more, are missing."""
    events: npt.NDArray[np.int64] = rows["event"].fill_null(0).to_numpy(zero_copy_only=False)
    times = rows["at"].cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    gaps = (np.diff(events) > 1) & (np.diff(times) >= LOST_US)
    edges = [0, *(np.flatnonzero(gaps) + 1).tolist(), len(events)]
    return [
        Stretch(
            kind=CAPTURE,
            source=capture,
            file=file,
            first=int(events[start:stop].min()),
            last=int(events[start:stop].max()),
            begin=int(times[start:stop].min()),
            end=int(times[start:stop].max()),
            rows=stop - start,
        )
        for start, stop in pairwise(edges)
    ]


def _nothing(kind: str, file: str) -> Stretch:
    return Stretch(kind=kind, source=file, file=file, first=0, last=0, begin=None, end=None, rows=0)


def _ordinals(rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """Return a number for each event and kind, in the order in which a recorder writes them."""
    kinds: npt.NDArray[np.int64] = pc.index_in(rows["kind"], _KINDS).to_numpy(False)
    events: npt.NDArray[np.int64] = rows["event"].fill_null(0).to_numpy(False)
    return events * len(_KINDS) + kinds
