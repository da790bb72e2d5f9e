"""Wait until something holds, with a limit: for coroutines and for threads."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, overload

T = TypeVar("T")

TIMEOUT = 60.0
"""Seconds; generous, since several test runs share a machine."""

TOO_LONG = 3600.0
"""Seconds, more than any test may take: a time-out that is never waited for."""


@overload
async def eventually(
    ask: Callable[[], Coroutine[Any, Any, T]],
    holds: Callable[[T], Any] = bool,
    *,
    timeout: float = TIMEOUT,
    pause: float = 0.01,
) -> T: ...


@overload
async def eventually(
    ask: Callable[[], T],
    holds: Callable[[T], Any] = bool,
    *,
    timeout: float = TIMEOUT,
    pause: float = 0.01,
) -> T: ...


async def eventually(
    ask: Callable[[], Any],
    holds: Callable[[Any], Any] = bool,
    *,
    timeout: float = TIMEOUT,
    pause: float = 0.01,
) -> Any:
    """Ask until the answer holds, and return it; the event loop runs in between.

    ask: a plain function or one that is awaited. pause: seconds between two questions. Raises
    AssertionError with the last answer when the time is over.
    """
    answer: Any = None
    try:
        async with asyncio.timeout(timeout):
            while True:
                asked = ask()
                answer = await asked if inspect.isawaitable(asked) else asked
                if holds(answer):
                    return answer
                await asyncio.sleep(pause)
    except TimeoutError:
        raise AssertionError(f"not in {timeout:g} s; the last answer: {answer!r}") from None


def eventually_blocking(
    ask: Callable[[], T],
    holds: Callable[[T], Any] = bool,
    *,
    timeout: float = TIMEOUT,
    pause: float = 0.1,
    report: Callable[[], str] | None = None,
) -> T:
    """Ask until the answer holds, and return it; this thread sleeps in between.

    report: says more than the last answer does when the time is over.
    """
    end = time.monotonic() + timeout
    while not holds(answer := ask()):
        last = report() if report else repr(answer)
        assert time.monotonic() < end, f"not in {timeout:g} s; the last answer: {last}"
        time.sleep(pause)
    return answer
