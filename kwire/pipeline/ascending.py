"""Proves cheaply that no frame comes twice: a recorder numbers events in their order.

If the numbers ascend in every slice, and no two slices overlap, each frame is there once. The
search for repeats, a shuffle of all frames, is then left out (docs/decisions/0026).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kwire.capture import NOTICE, REQUEST, RESPONSE

_KINDS = pa.array([REQUEST, RESPONSE, NOTICE])


class EventRange(NamedTuple):
    """The frames of a recording that a slice has. first, last: see `_ordinals`."""

    capture: str
    first: int
    last: int


@dataclass(slots=True)
class Ascent:
    """Follows the frames of a slice, batch after batch. unbroken: each is behind the one before."""

    unbroken: bool = True
    _ranges: dict[str, EventRange] = field(default_factory=dict)

    @property
    def ranges(self) -> list[EventRange]:
        """The ranges of all recordings in the slice."""
        return list(self._ranges.values())

    def follow(self, decoded: pa.RecordBatch) -> None:
        """Take the frames of a batch; rows of damage have no recording and are left out."""
        captures, ordinals = decoded["capture"], _ordinals(decoded)
        for capture in captures.unique().drop_null().to_pylist():
            own = ordinals[pc.equal(captures, capture).fill_null(False).to_numpy(False)]
            before = self._ranges.get(capture)
            if before is not None:
                # The last frame of the batch before: the border of two batches is checked, too.
                own = np.concatenate(([before.last], own))
            self.unbroken = self.unbroken and bool((np.diff(own) > 0).all())
            first = own[0] if before is None else before.first
            self._ranges[capture] = EventRange(capture, int(first), int(own[-1]))


def do_not_overlap(ranges: Iterable[EventRange]) -> bool:
    """Return True if no two ranges of the same recording overlap."""
    ordered = sorted(ranges)
    return not any(
        left.capture == right.capture and left.last >= right.first
        for left, right in pairwise(ordered)
    )


def _ordinals(decoded: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """Return a number for each event and kind, in the order in which a recorder writes them."""
    kinds: npt.NDArray[np.int64] = pc.index_in(decoded["kind"], _KINDS).to_numpy(False)
    events: npt.NDArray[np.int64] = decoded["event"].fill_null(0).to_numpy(False)
    return events * len(_KINDS) + kinds
