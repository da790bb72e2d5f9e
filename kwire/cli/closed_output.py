"""Notices that nobody reads the output any more, as after `| head -1`, while nothing is printed."""

from __future__ import annotations

import asyncio
import select
import sys
from typing import TextIO

LOOK = 0.5
"""Seconds between two looks."""


def is_closed(stream: TextIO) -> bool:
    """True if the other end of a pipe is closed; False if the system does not tell (Windows)."""
    if not hasattr(select, "poll"):
        return False
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # a stream in memory
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


async def sleep_while_read(seconds: float) -> None:
    """Sleep. Raises BrokenPipeError soon after stdout is closed, as printing would."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not is_closed(sys.stdout):
        rest = end - loop.time()
        if rest <= 0:
            return
        await asyncio.sleep(min(LOOK, rest))
    raise BrokenPipeError
