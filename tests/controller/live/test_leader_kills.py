"""Whoever leads a quorum of kwire's and Kafka's controllers is killed while topics are created.

KWIRE_KILLS sets how often; 50 is the long form.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from kwire.apis import a55_describe_quorum as quorum
from kwire.apis.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.batches import read_batches
from kwire.connection import Connection
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.metadata_records import read_metadata_record
from kwire.records.topic import TopicRecord
from real_kafka import Launcher, RunningNode
from tests.controller.live.admin_session import Session, leader_of, metadata_quorum
from tests.controller.live.nodes import JavaNodes, log_bytes, segment
from tests.controller.live.processes import TORN, ControllerProcesses

KILLS = int(os.environ.get("KWIRE_KILLS", "4"))
JAVA = 3200
QUICK = {
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.request.timeout.ms": "1000",
    "broker.session.timeout.ms": "3600000",
}
"""The broker of the test is none: it registers, and nobody misses its heartbeats."""

FIRST_TO_STAND = {**QUICK, "controller.quorum.fetch.timeout.ms": "800"}
"""For kwire's. Who stands first for the place of a dead leader is refused by who still follows it
(KIP-996), and loses to who stands next: so Kafka's controller leads, too."""


@dataclass(slots=True, kw_only=True)
class Mixed:
    """Two controllers of kwire's and one of Kafka's, all voters, and what was acknowledged.

    torn: how often a log of kwire's lost its end while its process was down.
    """

    kwire: ControllerProcesses
    java: RunningNode
    created: list[str] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    random: Random = field(default_factory=lambda: Random(KILLS))
    torn: int = 0

    @property
    def addresses(self) -> dict[int, tuple[str, int]]:
        """Where all three listen."""
        at = self.java.controller_address
        return {**self.kwire.addresses, JAVA: (at.host, at.port)}

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
        node = self.java if victim == JAVA else self.kwire.members[victim]
        await asyncio.to_thread(node.kill)
        await self.progress()
        if victim != JAVA and self.random.random() < 0.5:
            self.kwire.members[victim].tear(self.random)  # the others have all of it
            self.torn += 1
        await asyncio.to_thread(node.start)
        await self.until_all_have(victim)
        return victim

    async def until_all_have(self, node_id: int) -> None:
        """Wait until a replica has all that is committed at the time of asking."""
        await self.until(lambda told: _ends(told).get(node_id, -1) >= told.high_watermark > 0)

    async def until(
        self, holds: Callable[[quorum.ResponsePartitionData], bool], timeout: float = 60
    ) -> quorum.ResponsePartitionData:
        """Wait until the leader describes the quorum so; what it says then."""
        async with asyncio.timeout(timeout):
            while True:
                try:
                    at = self.addresses[await leader_of(self.addresses)]
                    async with await Connection.open(*at) as connection:
                        answer = await connection.send(metadata_quorum())
                    assert isinstance(answer, quorum.DescribeQuorumResponse)
                    told = answer.topics[0].partitions[0]
                    if holds(told):
                        return told
                except KwireError:
                    pass
                await asyncio.sleep(0.05)

    async def end(self) -> None:
        """Stop all three."""
        for one in self.kwire.members.values():
            await asyncio.to_thread(one.stop)
        await asyncio.to_thread(self.java.kill)


def _ends(told: quorum.ResponsePartitionData) -> dict[int, int]:
    return {one.replica_id: one.log_end_offset for one in told.current_voters}


async def register_a_broker(mixed: Mixed) -> None:
    """One that is none, unfenced, so that partitions have a place."""
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


async def agree(mixed: Mixed) -> None:
    """All that was acknowledged is there, in every log at the same place."""
    end = (await mixed.until(lambda told: told.high_watermark > 0)).high_watermark
    await mixed.until(lambda told: all(its >= end for its in _ends(told).values()))
    await mixed.end()
    folders = [one.data for one in mixed.kwire.members.values()]
    logs = [log_bytes(folder, end) for folder in (*folders, Path(mixed.java.folder) / "data")]
    assert [log == logs[0] for log in logs] == [True, True, True]
    assert set(mixed.created) <= _topics(logs[0])


def _topics(log: bytes) -> set[str]:
    values = [
        record.value or b""
        for batch in read_batches(log)
        if not batch.is_control
        for record in batch.records()
    ]
    records = [read_metadata_record(value).record for value in values]
    return {record.name for record in records if isinstance(record, TopicRecord)}


async def read_by_kafka(mixed: Mixed) -> None:
    """Kafka's own tool reads what kwire wrote."""
    for one in mixed.kwire.members.values():
        told = await asyncio.to_thread(
            mixed.java.tool,
            "org.apache.kafka.tools.DumpLogSegments",
            "--cluster-metadata-decoder",
            "--files",
            str(segment(one.data)),
        )
        assert told.returncode == 0, told.stderr
        assert told.stdout.count('"type":"TOPIC_RECORD"') >= len(set(mixed.created))


async def test_nothing_acknowledged_is_lost_when_leaders_of_either_kind_are_killed(
    kafka: Launcher, tmp_path: Path
) -> None:
    with ControllerProcesses(tmp_path, (3000, 3001), FIRST_TO_STAND) as kwire:
        nodes = JavaNodes(kafka, kwire)
        creating: asyncio.Task[None] | None = None
        try:
            joining = {**QUICK, "controller.quorum.auto.join.enable": "true"}
            mixed = Mixed(kwire=kwire, java=nodes.make(JAVA, "controller", joining))
            await asyncio.to_thread(mixed.java.start)
            await mixed.until(lambda told: set(_ends(told)) == set(mixed.addresses))
            await register_a_broker(mixed)
            creating = asyncio.create_task(mixed.create_topics())
            await mixed.progress()
            victims = Counter([await mixed.kill_the_leader() for _ in range(KILLS)])
            creating.cancel()
            await agree(mixed)
            await read_by_kafka(mixed)
            cut = sum(one.log.count(TORN) for one in kwire.members.values())
            print(  # noqa: T201
                f"{len(mixed.created)} topics, leaders killed: {dict(victims)},"
                f" ends of logs torn off: {mixed.torn}, {cut} of them within a batch"
            )
        finally:
            if creating:
                creating.cancel()
            await asyncio.to_thread(nodes.close)
