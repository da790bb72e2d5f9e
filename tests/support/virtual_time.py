"""Run a test in virtual time: its waits cost nothing, and take as long at any load."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import wraps
from random import Random
from typing import Any
from unittest import mock

from kwire.controller.server.environment import Environment
from tests.support.seed import SEED
from virtual_nodes.real_time_guard import real_time_guard
from virtual_nodes.virtual_network import NetworkLoop, VirtualNetwork

START = 1000.0
"""Seconds on the clock of a loop when its test begins."""

CPU_SECONDS = 20.0
"""After these a test counts as hanging: in virtual time, a loop that waits for ever is busy."""


def seeded_environment() -> Environment:
    """Return what the controllers of a quorum take from outside; they elect alike each time."""
    return Environment(random=Random(SEED))


def in_virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Have a test run on a loop of virtual time, whose connections are on a virtual network.

    `time.monotonic` is the clock of the loop meanwhile. Functions that belong into a thread run in
    the loop; what has real threads, sockets or processes of its own cannot run so. If a fixture
    returns an asynchronous context manager, the loop enters it, and the test gets its result.
    """

    async def run_with_fixtures(fixtures: dict[str, Any]) -> None:
        async with AsyncExitStack() as stack:
            arguments = {}
            for name, value in fixtures.items():
                is_entered = isinstance(value, AbstractAsyncContextManager)
                arguments[name] = await stack.enter_async_context(value) if is_entered else value
            await test(**arguments)
        await asyncio.sleep(1)  # the ends of connections are still on their way

    @wraps(test)
    def run(**fixtures: Any) -> None:
        loop = NetworkLoop(Random(SEED), START, VirtualNetwork(Random(SEED)))
        with (
            real_time_guard(CPU_SECONDS),
            mock.patch("time.monotonic", loop.time),
            mock.patch("kwire.testing.quorum.Environment", seeded_environment),
            asyncio.Runner(loop_factory=lambda: loop) as runner,
        ):
            runner.run(run_with_fixtures(fixtures))

    return run
