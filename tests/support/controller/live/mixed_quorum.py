"""A quorum of kwire's and Kafka's controllers, whose leaders are killed and made to stand still."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from kwire.errors import KwireError
from kwire.messages import a55_describe_quorum as quorum
from kwire.net.connection import Connection
from real_kafka import RunningNode
from tests.support.controller.live.admin_session import Session, leader_of, metadata_quorum
from tests.support.controller.live.controller_processes import (
    ControllerProcess,
    ControllerProcesses,
)
from tests.support.eventually import eventually
from virtual_nodes.clients import TopicClient
from virtual_nodes.history import WriteHistory
from virtual_nodes.timeline import Timeline

JAVA = 3200
SMALL, LARGE = 4, 2
"""Clients that create one topic a request, and clients that create 1,200."""

TIMEOUTS = 8.0, 12.0
"""Seconds of timeout_ms. A leader without a majority resigns, and so answers, in far less."""

STANDSTILL = 3.0, 6.0
LARGE_EACH = 3
"""Large requests of a client that a fault may hit."""


@dataclass(slots=True, kw_only=True)
class MixedQuorum:
    """Two controllers of kwire's and one of Kafka's, all voters, and their clients.

    large_faults: the share of faults before which large requests are sent.
    standstills: when a node stood still. torn: how often a log of kwire's lost its end while its
    process was down.
    """

    kwire: ControllerProcesses
    java: RunningNode
    random: Random
    large_faults: float = 1.0
    history: WriteHistory = field(default_factory=WriteHistory)
    standstills: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    torn: int = 0
    _clients: list[tuple[TopicClient, asyncio.Task[None]]] = field(default_factory=list)
    _large: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    @property
    def addresses(self) -> dict[int, tuple[str, int]]:
        """Host and port of all three."""
        at = self.java.controller_address
        return {**self.kwire.addresses, JAVA: (at.host, at.port)}

    def start_clients(self) -> None:
        """Have several clients create topics at whoever leads."""
        ports = {node_id: port for node_id, (_, port) in self.addresses.items()}
        timeline = Timeline(asyncio.get_running_loop().time)
        for number in range(SMALL + LARGE):
            is_large = number >= SMALL
            client = TopicClient(
                f"client-{number}",
                ports,
                Random(self.random.random()),
                self.history,
                timeline,
                sizes=(1200,) if is_large else (1,),
                timeouts=TIMEOUTS,
                pace=self._large.acquire if is_large else None,
            )
            self._clients.append((client, asyncio.create_task(client.run())))

    async def stop_clients(self) -> None:
        """Let every client end with its present request."""
        for client, _ in self._clients:
            client.stop()
            self._large.release()
        await asyncio.gather(*(task for _, task in self._clients))

    async def cancel_clients(self) -> None:
        """End every client at once."""
        tasks = [task for _, task in self._clients]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def progress(self, count: int = 5, timeout: float = 60) -> None:
        """Wait until so many more requests are acknowledged."""
        goal = self._acknowledged + count
        async with asyncio.timeout(timeout):
            while self._acknowledged < goal:
                self.history.news.clear()
                await self.history.news.wait()

    @property
    def _acknowledged(self) -> int:
        return sum(bool(write.acknowledged) for write in self.history.writes)

    async def _victim(self) -> tuple[int, RunningNode | ControllerProcess]:
        """Return the leader, a moment after large requests were sent, if they are."""
        victim = await leader_of(self.addresses)
        if self.random.random() < self.large_faults:
            for _ in range(LARGE * LARGE_EACH):
                self._large.release()
        await asyncio.sleep(self.random.uniform(0, 0.5))
        return victim, self.java if victim == JAVA else self.kwire.members[victim]

    async def kill_the_leader(self) -> int:
        """Kill it; the others go on, and it comes back and catches up. Return its id."""
        victim, node = await self._victim()
        await asyncio.to_thread(node.kill)
        await self.progress()
        if victim != JAVA and self.random.random() < 0.5:
            self.kwire.members[victim].tear(self.random)  # the others have all of it
            self.torn += 1
        await asyncio.to_thread(node.start)
        await self.until_all_have(victim)
        return victim

    async def stop_the_leader_for_a_while(self) -> int:
        """Have it stand still for seconds, and then catch up. Return its id.

        Its clients wait meanwhile: their connections stay open.
        """
        victim, node = await self._victim()
        begin = asyncio.get_running_loop().time()
        await asyncio.to_thread(node.suspend)
        try:
            await asyncio.sleep(self.random.uniform(*STANDSTILL))
        finally:
            await asyncio.to_thread(node.resume)
            end = asyncio.get_running_loop().time()
            self.standstills.setdefault(victim, []).append((begin, end))
        await self.progress()
        await self.until_all_have(victim)
        return victim

    async def until_all_have(self, node_id: int) -> None:
        """Wait until a replica has all that is committed at the time of asking."""
        await self.until(lambda told: ends(told).get(node_id, -1) >= told.high_watermark > 0)

    async def until(
        self, holds: Callable[[quorum.ResponsePartitionData], bool], timeout: float = 60
    ) -> quorum.ResponsePartitionData:
        """Wait until the leader describes the quorum so; return what it says then."""
        found = await eventually(
            self._described, lambda told: told is not None and holds(told), timeout=timeout
        )
        assert found is not None
        return found

    async def _described(self) -> quorum.ResponsePartitionData | None:
        try:
            leader = self.addresses[await leader_of(self.addresses)]
            async with await Connection.open(*leader) as connection:
                answer = await connection.send(metadata_quorum())
        except KwireError:
            return None
        assert isinstance(answer, quorum.DescribeQuorumResponse)
        return answer.topics[0].partitions[0]

    async def end(self) -> None:
        """Stop all three."""
        for member in self.kwire.members.values():
            await asyncio.to_thread(member.stop)
        await asyncio.to_thread(self.java.kill)


def ends(told: quorum.ResponsePartitionData) -> dict[int, int]:
    """Return the end of each voter's log."""
    return {voter.replica_id: voter.log_end_offset for voter in told.current_voters}


async def register_a_broker(mixed: MixedQuorum) -> None:
    """Register and unfence a broker that is none, so that partitions have a place."""
    leader_id = await leader_of(mixed.addresses)
    async with await Connection.open(*mixed.addresses[leader_id]) as leader:
        session = Session(
            leader_id=leader_id,
            cluster_id=mixed.kwire.cluster_id,
            leader=leader,
            follower=leader,
        )
        await session.learn_features()
        await session.register(1)
