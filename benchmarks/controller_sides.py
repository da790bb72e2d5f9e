"""The two sides of the controllers' benchmark: kwire's and Kafka's, every controller a process."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.net.connection import Connection
from kwire.testing.quorum import FIRST_ID
from real_kafka import Cluster, Launcher, Layout, RunningNode
from simulated_broker import SimulatedBroker
from tests.support.controller.live.controller_processes import (
    ControllerProcess,
    ControllerProcesses,
)

SESSION = {"broker.session.timeout.ms": "3600000"}
JVM = ("-Xmx1g",)
POLL = 0.02
_broker_ids = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One controller. folder: its process works there, and its data/ is there."""

    host: str
    port: int
    folder: Path
    start: Callable[[], None]
    kill: Callable[[], None]

    @property
    def cpu(self) -> float:
        """Seconds of CPU that its process has used."""
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def _pid(self) -> int:
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "cwd").readlink() == self.folder:
                    return int(process.name)
        raise ProcessLookupError(f"no process works in {self.folder}")

    async def leads(self) -> bool:
        """Return True if it answers a write: it leads, and has read its log."""
        topic = CreatableTopic(name="probe", num_partitions=1, replication_factor=1)
        request = CreateTopicsRequest(topics=[topic], validate_only=True, timeout_ms=60_000)
        with suppress(KwireError):
            async with await Connection.open(self.host, self.port) as connection:
                answer = await connection.send(request, timeout=300)
                assert isinstance(answer, CreateTopicsResponse)
                return answer.topics[0].error_code != ErrorCode.NOT_CONTROLLER
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A quorum of one kind. members: by node id."""

    name: str
    members: dict[int, Member]

    @property
    def addresses(self) -> dict[int, tuple[str, int]]:
        """The address of each controller."""
        return {id: (member.host, member.port) for id, member in self.members.items()}

    @property
    def cpu(self) -> float:
        """Seconds of CPU that its processes have used."""
        return sum(member.cpu for member in self.members.values())

    async def leader(self) -> Member:
        """Wait for the controller that leads and has read its log."""
        while True:
            for member in self.members.values():
                if await member.leads():
                    return member
            await asyncio.sleep(POLL)

    async def brokers(self, number: int) -> list[SimulatedBroker]:
        """Return so many new brokers that are registered with the leader and unfenced."""
        leader = await self.leader()
        return [
            await SimulatedBroker.open(next(_broker_ids), leader.host, leader.port)
            for _ in range(number)
        ]


@contextmanager
def kwire(size: int) -> Iterator[Side]:
    """So many controllers of kwire's."""
    ids = range(FIRST_ID, FIRST_ID + size)
    with (
        tempfile.TemporaryDirectory(prefix="kwire-bench-") as folder,
        ControllerProcesses(Path(folder), ids, SESSION) as processes,
    ):
        yield of_kwire(processes)


@contextmanager
def java(launcher: Launcher, size: int) -> Iterator[Side]:
    """So many controllers of Kafka's."""
    ids = tuple(range(FIRST_ID, FIRST_ID + size))
    with Cluster(launcher, Layout(controllers=ids, properties=SESSION, jvm=JVM)) as cluster:
        yield of_kafka(cluster)


def of_kwire(processes: ControllerProcesses) -> Side:
    """Return the side of running controllers of kwire's."""
    members = {id: _member(process) for id, process in processes.members.items()}
    return Side(name="kwire", members=members)


def of_kafka(cluster: Cluster) -> Side:
    """Return the side of the controllers of a running cluster of Kafka's."""
    members = {id: member_of(node) for id, node in cluster.controllers.items()}
    return Side(name="Kafka", members=members)


def _member(process: ControllerProcess) -> Member:
    return Member(
        host="127.0.0.1",
        port=process.port,
        folder=process.data.parent.resolve(),
        start=process.start,
        kill=process.kill,
    )


def member_of(node: RunningNode) -> Member:
    """Return the controller of a running cluster."""
    address = node.controller_address
    return Member(
        host=address.host,
        port=address.port,
        folder=Path(node.folder).resolve(),
        start=node.start,
        kill=node.kill,
    )
