"""Commands and nodes on one virtual network."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from random import Random
from unittest import mock

from kwire.cli import event_loop
from tests.support.seed import SEED
from tests.support.virtual_time import START, seeded_environment
from virtual_nodes.virtual_network import LinkFaults, NetworkLoop, VirtualNetwork


class SlowNetwork:
    """Commands and nodes on one virtual network, which stands still between commands."""

    def __init__(self, stack: ExitStack) -> None:
        loop = NetworkLoop(Random(SEED), START, VirtualNetwork(Random(SEED)))
        environment = "kwire.testing.quorum.Environment"
        stack.enter_context(mock.patch("time.monotonic", loop.time))
        stack.enter_context(mock.patch(environment, seeded_environment))
        self._loop = loop
        self.network = loop.network
        self.runner = stack.enter_context(asyncio.Runner(loop_factory=lambda: loop))
        stack.enter_context(mock.patch.object(event_loop, "_run", self.runner.run))

    def slow_down(self, seconds: float) -> None:
        """Have everything take so long each way from now on."""
        self.network.faults = LinkFaults(latency=(seconds, seconds))

    @property
    def time(self) -> float:
        """The seconds of the virtual clock."""
        return self._loop.time()
