"""Many reads under way at a time, and never more than a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE = 256


async def many_at_once(
    items: Sequence[T],
    read: Callable[[T], Awaitable[R]],
    *,
    limit: int = AT_ONCE,
    progress: Callable[[int], object] = lambda done: None,
) -> list[R]:
    """Return the results in the order of the items.

    A few tasks take the items one by one: a task for each item costs more than most reads.
    progress: called after each item with the number of those that are done. Raises the first error,
    after the other reads were cancelled and have ended.
    """
    numbered = enumerate(items)
    results: dict[int, R] = {}

    async def work() -> None:
        for number, item in numbered:
            results[number] = await read(item)
            progress(len(results))

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(min(limit, len(items))):
                workers.create_task(work())
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    if len(results) < len(items):
        # A group passes over a task that was cancelled by itself; what it read must not be missing.
        raise asyncio.CancelledError
    return [results[number] for number in range(len(items))]
