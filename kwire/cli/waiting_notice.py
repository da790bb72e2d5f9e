"""A sentence on stderr while a command waits for an answer, so that it is never silent for long."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from kwire.text.untrusted import harmless

SILENCE = 1.0
"""Seconds for which a command may be silent."""


@asynccontextmanager
async def waiting_notice(
    awaited: Callable[[], str], timeout: float, *, silence: float = SILENCE
) -> AsyncIterator[None]:
    """Print what is waited for, and for how long at most, unless the context ends before.

    awaited: returns it at that moment; if it is empty, nothing is printed.
    """

    def print_notice() -> None:
        if name := awaited():
            sys.stderr.write(f"Waiting for {harmless(name)}, {timeout:g} s at most.\n")
            sys.stderr.flush()

    handle = asyncio.get_running_loop().call_later(silence, print_notice)
    try:
        yield
    finally:
        handle.cancel()
