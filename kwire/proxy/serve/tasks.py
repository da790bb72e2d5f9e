"""Runs what services do as tasks of the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from kwire.proxy.serve.dispatch import Cancel, Outcome

_running: set[asyncio.Task[Outcome]] = set()


def as_task(work: Coroutine[Any, Any, Outcome], resume: Callable[[Outcome], None]) -> Cancel:
    """Run it; `resume` gets what it returned or raised, unless it is cancelled before."""
    task = asyncio.get_running_loop().create_task(work)
    _running.add(task)

    def done(task: asyncio.Task[Outcome]) -> None:
        _running.discard(task)
        if not task.cancelled():
            failure = task.exception()
            resume(task.result() if failure is None else failure)

    task.add_done_callback(done)

    def cancel() -> None:
        task.cancel()

    return cancel
