"""The answers of one leadership that wait for the commit of what they tell (Java:
DeferredEventQueue).

An answer that tells of a write belongs to the epoch and the offset of that write. Java keeps one
queue for all epochs and empties it when the leader resigns; an event that joins it afterwards would
be released by the commit of another leader's records. Here the queue belongs to the epoch and ends
with it.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

from kwire.error_codes import ErrorCode
from kwire.errors import ApiError

Deferred = Callable[[ApiError | None], None]
"""Called once: with None when the write is committed, with an error when that is not known."""


class DeferredEventQueue:
    """The answers that wait, from this node's election in an epoch to its resignation.

    A deferred answer is released in exactly one of two ways:

    1. The high watermark reaches its offset while this node leads in `epoch`: committed.
    2. The epoch ends first, or had ended before the answer was deferred: NOT_CONTROLLER.

    Answers are released by offset, not in the order in which they came.
    """

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self._high_watermark = 0
        self._has_ended = False
        self._deferred: list[tuple[int, int, Deferred]] = []
        self._order = itertools.count()

    @property
    def has_ended(self) -> bool:
        """True from the resignation on."""
        return self._has_ended

    def defer(self, offset: int, deferred: Deferred) -> None:
        """Release an answer when everything below `offset` is committed in this epoch.

        It is released at once if that is so already, or if the epoch has ended.
        """
        # 2. One event of the replica may both append and resign: in whatever order the two are
        # told, no answer is left to a later epoch.
        if self._has_ended:
            deferred(_resigned())
        elif offset <= self._high_watermark:
            deferred(None)
        else:
            heapq.heappush(self._deferred, (offset, next(self._order), deferred))

    def committed(self, high_watermark: int) -> None:
        """Release every response whose records are below the high watermark."""
        # 1. A leader never truncates its log: the record at the offset is the one that it wrote.
        self._high_watermark = max(self._high_watermark, high_watermark)
        while self._deferred and self._deferred[0][0] <= self._high_watermark:
            _, _, deferred = heapq.heappop(self._deferred)
            deferred(None)

    def end(self) -> None:
        """Fail every answer that waits, and every one that will be deferred from now on."""
        self._has_ended = True
        failed, self._deferred = sorted(self._deferred), []
        for _, _, deferred in failed:
            deferred(_resigned())


def _resigned() -> ApiError:
    text = "This controller is not the active one any more."
    return ApiError(ErrorCode.NOT_CONTROLLER, text)
