"""A whole world from one seed: real controllers, clients, a network, and virtual time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from random import Random

from kwire.controller.server.environment import Environment
from kwire.controller.server.node import ControllerNode
from kwire.controller.server.quorum import FIRST_ID, Quorum
from kwire.errors import KwireError
from tests.controller.virtual import broker
from tests.controller.virtual.clients import Client
from tests.controller.virtual.history import History
from tests.controller.virtual.interruption import Interruption, Point
from tests.controller.virtual.invariants import Sampler, differing, topics
from tests.controller.virtual.network import Network, NetworkLoop
from tests.controller.virtual.timeline import Timeline

LOGGER = logging.getLogger("controller")

EPOCH = 1_800_000_000.0
"""Seconds since 1970 at which every world begins."""

PROPERTIES = {"broker.session.timeout.ms": "86400000"}
"""Nobody misses the heartbeats of the simulated broker."""

SETTLED = 60.0
"""Seconds within which healthy nodes agree."""


class World:
    """Controllers in processes of their own, directed by a scenario.

    random: for the scenario. violations: the promises that were broken, in words.
    """

    def __init__(self, seed: str, folder: Path, size: int = 3) -> None:
        self.network = Network(Random(f"{seed}/network"))
        self.loop = NetworkLoop(Random(f"{seed}/loop"), 0.0, self.network)
        self.random = Random(f"{seed}/scenario")
        self.timeline = Timeline(self.loop.time)
        self.history = History()
        self.violations: list[str] = []
        self._seed = seed
        self._level = LOGGER.level
        self._clients: list[tuple[Client, asyncio.Task[None]]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.loop.set_exception_handler(self._failed)
        environment = Environment(
            random=Random(f"{seed}/nodes"), wall_clock=lambda: EPOCH + self.loop.time()
        )
        self.quorum = Quorum(
            size,
            folder=folder,
            properties=PROPERTIES,
            ports=range(FIRST_ID, FIRST_ID + size),
            environment=environment,
        )
        self._sampler = Sampler(self.quorum, self.timeline)

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        violation = f"EXCEPTION: {context.get('exception') or context.get('message')!r}"
        self.timeline.say(violation)
        self.violations.append(violation)

    async def start(self) -> None:
        """Start every controller, wait for a leader, and register a broker."""
        LOGGER.addHandler(self.timeline)
        LOGGER.setLevel(logging.INFO)
        for node_id in self.quorum.members:
            await self.loop.run_in(_name(node_id), self.quorum.start_node(node_id))
        self._tasks.append(self.loop.create_task(self._sampler.run()))
        async with asyncio.timeout(SETTLED):
            for _ in count():
                if await self._register():
                    break
                await asyncio.sleep(0.1)

    async def _register(self) -> bool:
        leader = await self.quorum.wait_for_leader()
        port = self.quorum.members[leader.node_id].port
        with suppress(KwireError):
            return await self.loop.run_in("broker", broker.register(self.quorum.cluster_id, port))
        return False

    def add_clients(
        self,
        number: int,
        sizes: tuple[int, ...] = (1,),
        timeouts: tuple[float, float] = (4.0, 9.0),
        limit: int | None = None,
    ) -> None:
        """Have more clients create topics, each in a process of its own."""
        ports = {node_id: member.port for node_id, member in self.quorum.members.items()}
        for _ in range(number):
            name = f"client-{len(self._clients)}"
            random = Random(f"{self._seed}/{name}")
            client = Client(
                name,
                ports,
                random,
                self.history,
                self.timeline,
                sizes=sizes,
                timeouts=timeouts,
                limit=limit,
            )
            self._clients.append((client, self.loop.start_in(name, client.run())))

    @property
    def leaders(self) -> dict[int, int]:
        """The node that led, by epoch."""
        return self._sampler.leaders

    @property
    def standstills(self) -> dict[int, list[tuple[float, float]]]:
        """The intervals in which nodes stood still."""
        return {id: self.loop.process(_name(id)).standstills for id in self.quorum.members}

    def stand_still(self, node_id: int, seconds: float) -> None:
        """Stop a controller between two callbacks, as SIGSTOP does to one that waits."""
        process = self.loop.process(_name(node_id))
        process.stand_still(self.loop.now, seconds)
        self.timeline.say(f"node {node_id} stands still for {seconds:.1f} s, between callbacks")

    def interrupt(self, node_id: int, point: Point, seconds: float) -> Interruption:
        """Stop a controller at a point of its code, as soon as it comes there."""
        self.timeline.say(f"node {node_id} will stand still for {seconds:.1f} s: {point}")
        return Interruption(self.loop, _name(node_id), point, seconds)

    def cut(self, node_id: int, other_id: int) -> None:
        """Let nothing pass between two controllers until `heal`."""
        self.network.cut(_name(node_id), _name(other_id))
        self.timeline.say(f"nodes {node_id} and {other_id} are cut off from each other")

    def heal(self) -> None:
        """Let everything pass again."""
        self.network.heal()
        self.timeline.say("the network is whole again")

    async def settle(self) -> None:
        """Let clients finish and nodes agree, then check everything that was promised."""
        self.heal()
        for client, _ in self._clients:
            client.stop()
        await asyncio.gather(*(task for _, task in self._clients))
        self.violations += self._sampler.violations
        self.violations += self.history.late(self.standstills)
        try:
            async with asyncio.timeout(SETTLED):
                end = await self._agreed()
        except TimeoutError:
            self.violations.append(f"SETTLED: the nodes do not agree {SETTLED:.0f} s later")
            return
        self.violations += self._lost(end)

    async def _agreed(self) -> int:
        """Wait until every node has committed what the leader has now; return that offset."""
        leader = await self.quorum.wait_for_leader(SETTLED)
        end = leader.raft.end_offset
        await asyncio.gather(
            *(
                node.metadata.until(partial(_has_committed, node, end))
                for node in self.quorum.nodes.values()
            )
        )
        return end

    def _lost(self, end: int) -> Iterator[str]:
        nodes = self.quorum.nodes
        if len(nodes) < len(self.quorum.members):
            yield f"RUNNING: only nodes {sorted(nodes)} still run"
        yield from self.history.lost({node_id: topics(node) for node_id, node in nodes.items()})
        yield from differing(nodes, end)

    async def stop(self) -> None:
        """End every task and every node."""
        tasks = [*self._tasks, *(task for _, task in self._clients)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.quorum.stop()
        LOGGER.setLevel(self._level)
        LOGGER.removeHandler(self.timeline)


def _has_committed(node: ControllerNode, end: int) -> bool:
    return node.metadata.offset >= end


def _name(node_id: int) -> str:
    return f"node-{node_id}"
