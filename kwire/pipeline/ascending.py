"""Whether frames come twice is seldom a question: a recorder numbers them in their order.

Where they ascend in every slice, and no two slices overlap, each is there once, and nobody has to
look for repeats.
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
    """The frames of a recording that a slice has. first, last: of their places."""

    capture: str
    first: int
    last: int


@dataclass(slots=True)
class Ascent:
    """Follows the frames of a slice, batch after batch. unbroken: each is behind the one before."""

    unbroken: bool = True
    _spans: dict[str, EventRange] = field(default_factory=dict)

    @property
    def spans(self) -> list[EventRange]:
        """Of all recordings in the slice."""
        return list(self._spans.values())

    def follow(self, decoded: pa.RecordBatch) -> None:
        """Take the frames of a batch; damage is none."""
        captures, places = decoded["capture"], _places(decoded)
        for capture in captures.unique().drop_null().to_pylist():
            own = places[pc.equal(captures, capture).fill_null(False).to_numpy(False)]
            before = self._spans.get(capture)
            if before is not None:
                own = np.concatenate(([before.last], own))
            self.unbroken = self.unbroken and bool((np.diff(own) > 0).all())
            first = own[0] if before is None else before.first
            self._spans[capture] = EventRange(capture, int(first), int(own[-1]))


def apart(spans: Iterable[EventRange]) -> bool:
    """Whether no two of them, of the same recording, overlap."""
    ordered = sorted(spans)
    return not any(
        one.capture == other.capture and one.last >= other.first for one, other in pairwise(ordered)
    )


def _places(decoded: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """A number for each event and kind, in the order in which a recorder writes them."""
    kinds: npt.NDArray[np.int64] = pc.index_in(decoded["kind"], _KINDS).to_numpy(False)
    events: npt.NDArray[np.int64] = decoded["event"].fill_null(0).to_numpy(False)
    return events * len(_KINDS) + kinds
