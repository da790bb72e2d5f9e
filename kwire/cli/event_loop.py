"""The event loop of a command that asks a cluster."""

from __future__ import annotations

from collections.abc import Coroutine
from contextlib import closing
from typing import Any, TypeVar

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop of its own; return its result. Raises what it raises.

    1. The next command loads the engines' code that this one compiles.
    2. A resolver that does not answer holds up neither the loop's end nor that of Python.
    3. The coroutine of asyncio.run returns nothing: restoring the signals, asyncio.run formats its
       whole result twice, which takes a fifth of the time to describe 10,000 partitions.
    4. If a signal comes before the loop runs, Python does not warn of coroutines that never ran.
    """
    with closing(coroutine):  # 4.
        return _run(coroutine)


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    import asyncio

    from kwire.cli.log_lines import escape_warnings
    from kwire.codec import engine_cache
    from kwire.net.resolving import AbandonableThreads

    escape_warnings()
    # 1.
    engine_cache.use_folder(engine_cache.user_folder())
    results: list[T] = []

    async def keep_result() -> None:
        # 2.
        asyncio.get_running_loop().set_default_executor(AbandonableThreads())
        # 3.
        results.append(await coroutine)

    with closing(keep_result()) as kept:  # 4.
        asyncio.run(kept)
    return results[0]
