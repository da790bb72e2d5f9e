"""Prints from a thread of its own, so that a slow terminal or a full pipe never slows traffic.

A limit of repeats lets so much through that a person can read along.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import copy_context
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Self

logger = logging.getLogger(__name__)

WEIGHT_LIMIT = 32 * 1024 * 1024
"""Bytes of events that may wait to be printed."""

PATIENCE = 2.0
"""Seconds that the end waits for what is still to be printed."""

REPEAT_PAUSE = 3.0
"""Seconds until the same kind of RPC between the same two nodes is shown again."""

Job = Callable[[], None]


class Printer:
    """Runs jobs that print, in order. The queue is bounded; jobs without room are counted.

    The thread has the context variables of its maker: jobs read batches by the command's limit.
    gone: called once, in the thread, when the reader of the output has gone, as `| head` does.
    """

    def __init__(self, gone: Callable[[], object]) -> None:
        self._jobs: SimpleQueue[tuple[Job, int] | None] = SimpleQueue()
        self._gone = gone
        self._waiting = 0
        self._changing = Lock()
        self._thread = Thread(
            target=copy_context().run, args=(self._run,), name="printer", daemon=True
        )
        self.dropped = 0

    def put(self, job: Job, weight: int = 0) -> None:
        """Print later; drop the job if too many bytes wait. weight: the bytes that it holds."""
        with self._changing:
            if self._waiting + weight > WEIGHT_LIMIT:
                self.dropped += 1
                return
            self._waiting += weight
        self._jobs.put((job, weight))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._jobs.put(None)
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        while (taken := self._jobs.get()) is not None:
            job, weight = taken
            with self._changing:
                self._waiting -= weight
            try:
                job()
            except (BrokenPipeError, SystemExit):  # rich turns the former into the latter
                self._gone()
                return
            except Exception as error:
                logger.error("something could not be shown: %r", error)


class RepeatLimit:
    """Remembers when each kind of flow was shown last, and how many were skipped since."""

    def __init__(self, pause: float = REPEAT_PAUSE) -> None:
        self._pause = pause
        self._shown: dict[tuple[object, ...], float] = {}
        self._skipped: dict[tuple[object, ...], int] = {}

    def passes(self, kind: tuple[object, ...], at: float) -> int | None:
        """Return how many of this kind were skipped since the last; None to skip this one, too."""
        last = self._shown.get(kind)
        if last is not None and at - last < self._pause:
            self._skipped[kind] = self._skipped.get(kind, 0) + 1
            return None
        self._shown[kind] = at
        return self._skipped.pop(kind, 0)
