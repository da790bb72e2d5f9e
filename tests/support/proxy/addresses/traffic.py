"""A producer and a consumer at work while a test disturbs the nodes or the proxy before them."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kwire.net.address import Address
from tests.support.paths import ROOT

PATIENCE = 120.0


@asynccontextmanager
async def traffic(*bootstrap: Address) -> AsyncIterator[dict[str, int]]:
    """Run a producer and a consumer; yield a mapping that has their counts after the context."""
    command = [
        sys.executable,
        "-m",
        "tests.support.proxy.addresses.producer_consumer",
        *map(str, bootstrap),
    ]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=PIPE, stdout=PIPE)
    counts: dict[str, int] = {}
    try:
        async with asyncio.timeout(PATIENCE):
            assert await _line(process) == "begun"
        yield counts
        assert process.stdin is not None
        process.stdin.close()
        async with asyncio.timeout(3 * PATIENCE):
            counts |= json.loads(await _line(process))
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _line(process: Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()
