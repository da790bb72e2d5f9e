"""Filters at work on one message, and the rule by which they wait.

The rule: what waits stays where it is. A held frame keeps its place in the queue of its direction
(`gate`), with all that is behind it. Its filters wait for one step at a time, and go on in one way
only: `FilterRun.resume`, with what that step gave.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from kwire.proxy.data_path.pass_through import Timer
from kwire.proxy.filters.filter import Step

Resume = Callable[..., None]
"""Resumes filters with a value, or with an `error`. Only the first call has an effect."""

BeginStep = Callable[[Step[Any], Resume], Timer | None]
"""Begins what filters wait for; returns the timer of it, if it has one."""


class FilterRun:
    """A coroutine of filters, driven from step to step.

    It is driven by hand, not as a task: filters that do not wait decide in the turn of the loop in
    which their frame came, and nothing here needs asyncio. waits_for: the step, None while the
    filters run and when they have decided.
    """

    __slots__ = ("_begin_step", "_next", "_running", "_timer", "_work", "waits_for")

    def __init__(self, work: Coroutine[Any, Any, None], begin_step: BeginStep) -> None:
        self._work = work
        self._begin_step = begin_step
        self._timer: Timer | None = None
        self._running = False
        self._next: tuple[Any, Exception | None] | None = None
        self.waits_for: Step[Any] | None = None

    def start(self) -> None:
        """Let the filters run until they wait for something, or have decided."""
        self._go_on(None, None)

    def resume(self, step: Step[Any], value: Any = None, error: Exception | None = None) -> None:
        """Let the filters go on with what a step gave, if it is the one that they wait for."""
        # Another one was resumed before, or the connection has gone.
        if self.waits_for is step:
            self._go_on(value, error)

    def close(self) -> None:
        """End the filters that have not decided: nobody waits for it any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.waits_for = None
        self._work.close()

    def _go_on(self, value: Any, error: Exception | None) -> None:
        self.waits_for = self._timer = None
        self._next = value, error
        # A step may resume the filters before it has begun: the loop that began it goes on.
        if self._running:
            return
        self._running = True
        try:
            while self._next is not None:
                self._step(*self._next)
        except StopIteration:
            pass
        finally:
            self._running = False

    def _step(self, value: Any, error: Exception | None) -> None:
        """Run the filters to their next step, and begin that. Raises StopIteration at their end."""
        self._next = None
        step = self._work.send(value) if error is None else self._work.throw(error)
        self.waits_for = step
        try:
            timer = self._begin_step(step, partial(self.resume, step))
        except Exception as fault:
            self.resume(step, error=fault)
        else:
            if self.waits_for is step:
                self._timer = timer
