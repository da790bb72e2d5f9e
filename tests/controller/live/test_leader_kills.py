"""Whoever leads a quorum of kwire's and Kafka's controllers is killed while topics are created.

KWIRE_KILLS sets how often; 50 is the long form.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from controller.node import ControllerNode
from controller.quorum import Quorum
from kwire.apis.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.apis.a55_describe_quorum import DescribeQuorumResponse
from kwire.connection import Connection
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from real_kafka import Launcher, RunningNode
from tests.controller.live.admin_session import Session, leader_of, metadata_quorum
from tests.controller.live.nodes import JavaNodes, log_bytes, until_voters

KILLS = int(os.environ.get("KWIRE_KILLS", "4"))
JAVA = 3200
QUICK = {
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.request.timeout.ms": "1000",
    "broker.session.timeout.ms": "3600000",
}
"""The broker of the test is none: it registers, and nobody misses its heartbeats."""


@dataclass(slots=True, kw_only=True)
class Mixed:
    """Two controllers of kwire's and one of Kafka's, all voters, and what was acknowledged."""

    quorum: Quorum
    java: RunningNode
    created: list[str] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def addresses(self) -> dict[int, tuple[str, int]]:
        """Where all three listen."""
        at = self.java.controller_address
        return {**self.quorum.addresses, JAVA: (at.host, at.port)}

    async def create_topics(self) -> None:
        """One topic after the other, at whoever leads, until cancelled."""
        number = 0
        while True:
            try:
                at = self.addresses[await leader_of(self.addresses)]
                async with await Connection.open(*at, request_timeout=5) as connection:
                    while await self._create(connection, f"topic-{number}"):
                        number += 1
            except KwireError:
                await asyncio.sleep(0.02)

    async def _create(self, connection: Connection, name: str) -> bool:
        """Whether it exists for ever now; an answer that got lost may have made it before."""
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        answer = await connection.send(CreateTopicsRequest(topics=[topic]))
        assert isinstance(answer, CreateTopicsResponse)
        if answer.topics[0].error_code not in (0, ErrorCode.TOPIC_ALREADY_EXISTS):
            await asyncio.sleep(0.02)
            return False
        self.created.append(name)
        self.news.set()
        return True

    async def progress(self, count: int = 5, timeout: float = 60) -> None:
        """Wait until so many more topics are acknowledged."""
        goal = len(self.created) + count
        async with asyncio.timeout(timeout):
            while len(self.created) < goal:
                self.news.clear()
                await self.news.wait()

    async def kill_the_leader(self) -> int:
        """Kill it; the others go on, and it comes back and catches up. Who it was."""
        victim = await leader_of(self.addresses)
        if victim == JAVA:
            await asyncio.to_thread(self.java.kill)
        else:
            await self.quorum.nodes[victim].kill()
        await self.progress()
        if victim == JAVA:
            await asyncio.to_thread(self.java.start)
        else:
            await self.quorum.start_node(victim)
        await self.until_all_have(victim)
        return victim

    async def until_all_have(self, node_id: int, timeout: float = 60) -> None:
        """Wait until a replica has all that is committed at the time of asking."""
        async with asyncio.timeout(timeout):
            while True:
                try:
                    if await self._has_all(node_id):
                        return
                except KwireError:
                    pass
                await asyncio.sleep(0.05)

    async def _has_all(self, node_id: int) -> bool:
        at = self.addresses[await leader_of(self.addresses)]
        async with await Connection.open(*at) as connection:
            answer = await connection.send(metadata_quorum())
        assert isinstance(answer, DescribeQuorumResponse)
        told = answer.topics[0].partitions[0]
        ends = {one.replica_id: one.log_end_offset for one in told.current_voters}
        return ends.get(node_id, -1) >= told.high_watermark > 0


async def register_a_broker(mixed: Mixed) -> None:
    """One that is none, unfenced, so that partitions have a place."""
    leader_id = await leader_of(mixed.addresses)
    async with await Connection.open(*mixed.addresses[leader_id]) as leader:
        session = Session(
            leader_id=leader_id,
            cluster_id=mixed.quorum.cluster_id,
            leader=leader,
            follower=leader,
        )
        await session.learn_features()
        await session.register(1)


async def reached(node: ControllerNode, offset: int) -> None:
    """Wait until a controller has applied everything below."""
    async with asyncio.timeout(60):
        await node.metadata.until(lambda: node.metadata.offset >= offset)


async def agree(mixed: Mixed) -> None:
    """All that was acknowledged is there, in every log at the same place."""
    first, second = mixed.quorum.nodes.values()
    offset = max(node.metadata.offset for node in (first, second))
    for node in (first, second):
        await reached(node, offset)
        assert set(mixed.created) <= set(node.metadata.image.topics.ids)
    await mixed.until_all_have(JAVA)
    data = first.log.read(0, 1 << 30, offset)
    logs = [log_bytes(mixed.quorum.folder / f"node-{id}") for id in mixed.quorum.nodes]
    logs.append(log_bytes(Path(mixed.java.folder) / "data"))
    assert data
    assert [log[: len(data)] == data for log in logs] == [True, True, True]


async def read_by_kafka(mixed: Mixed) -> None:
    """Kafka's own tool reads what kwire wrote."""
    folder = mixed.quorum.folder / "node-3000" / "__cluster_metadata-0"
    told = await asyncio.to_thread(
        mixed.java.tool,
        "org.apache.kafka.tools.DumpLogSegments",
        "--cluster-metadata-decoder",
        "--files",
        str(folder / f"{0:020d}.log"),
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.count('"type":"TOPIC_RECORD"') >= len(set(mixed.created))


async def test_nothing_acknowledged_is_lost_when_leaders_of_either_kind_are_killed(
    kafka: Launcher,
) -> None:
    async with Quorum(2, properties=QUICK) as quorum:
        nodes = JavaNodes(kafka, quorum)
        creating: asyncio.Task[None] | None = None
        try:
            joining = {**QUICK, "controller.quorum.auto.join.enable": "true"}
            mixed = Mixed(quorum=quorum, java=nodes.make(JAVA, "controller", joining))
            await asyncio.to_thread(mixed.java.start)
            await until_voters(await quorum.wait_for_leader(), {3000, 3001, JAVA}, timeout=60)
            await register_a_broker(mixed)
            creating = asyncio.create_task(mixed.create_topics())
            await mixed.progress()
            victims = Counter([await mixed.kill_the_leader() for _ in range(KILLS)])
            creating.cancel()
            await agree(mixed)
            await read_by_kafka(mixed)
            print(f"{len(mixed.created)} topics, leaders killed: {dict(victims)}")  # noqa: T201
        finally:
            if creating:
                creating.cancel()
            await asyncio.to_thread(nodes.close)
