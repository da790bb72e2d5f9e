"""A sentence on stderr while a command waits for an answer, so that it is never silent for long."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.net.awaited import Awaited

SILENCE = 1.0
"""Seconds for which a command may be silent."""

PATIENCE = 3.0
"""Seconds for which a node of Kafka may be, which elects a leader or creates a topic meanwhile."""


@asynccontextmanager
async def waiting_notice(
    awaited: Callable[[], str], timeout: float, *, silence: float = SILENCE
) -> AsyncIterator[None]:
    """Print what is waited for, and for how long at most, unless the context ends before.

    awaited: returns it at that moment; if it is empty, nothing is printed. It is asked again, and
    printed if it is another.
    """
    loop = asyncio.get_running_loop()
    printed = ""
    handle: asyncio.TimerHandle

    def print_notice() -> None:
        nonlocal handle, printed
        if (name := awaited()) and name != printed:
            sys.stderr.write(f"Waiting for {harmless(name)}, {timeout:g} s at most.\n")
            sys.stderr.flush()
            printed = name
        handle = loop.call_later(silence, print_notice)

    handle = loop.call_later(silence, print_notice)
    try:
        yield
    finally:
        handle.cancel()


def nodes_notice(awaited: Awaited, timeout: float) -> AbstractAsyncContextManager[None]:
    """Print the nodes that have not answered for PATIENCE, as `waiting_notice` does."""
    return waiting_notice(lambda: awaited.text(PATIENCE), timeout)
