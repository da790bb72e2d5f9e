"""Connects to a node, or to who stands by for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from kwire.address import Address


async def reach(
    targets: Iterable[Address],
    protocol: asyncio.Protocol,
    timeout: float,
    told: Callable[[Address], None],
) -> str:
    """Connect the protocol to the first target that accepts; why none does, or nothing.

    timeout: seconds for each. told: which one is tried now.
    """
    loop = asyncio.get_running_loop()
    refusals = []
    for target in targets:
        told(target)
        try:
            async with asyncio.timeout(timeout):
                await loop.create_connection(lambda: protocol, target.host, target.port)
            return ""
        except (OSError, UnicodeError) as error:  # the latter for a host that is no name at all
            refusals.append(f"{target} does not accept connections: {_said(error)}")
    return "; ".join(refusals)


def _said(error: OSError | UnicodeError) -> str:
    told = error.strerror if isinstance(error, OSError) else None
    return told or str(error) or "no answer in time"
