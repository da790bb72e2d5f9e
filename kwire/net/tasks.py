"""The end of tasks that run beside others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

logger = logging.getLogger(__name__)


async def cancel_and_wait(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and return when all have ended; what one failed with is logged.

    If the caller is cancelled while this waits, CancelledError is raised after the last task has
    ended: no task outlives the call, and no cancellation is taken for that of a task.
    """
    ending = tuple(tasks)
    for task in ending:
        task.cancel()
    interrupted: asyncio.CancelledError | None = None
    while running := [task for task in ending if not task.done()]:
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError as error:
            interrupted = error
    for task in ending:
        if not task.cancelled() and (failure := task.exception()) is not None:
            logger.error("%s failed", task.get_coro(), exc_info=failure)
    if interrupted is not None:
        raise interrupted
