"""One side of the migration's benchmark: a controller that migrates a ZooKeeper full of topics.

The broker in it is simulated: it registers, takes what the controller tells it, and has no files.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Event

from kazoo.client import KazooClient

from controller_sides import Member, member_of
from kwire.messages.a04_leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from kwire.messages.a05_stop_replica import StopReplicaRequest, StopReplicaResponse
from kwire.messages.a06_update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.control_requests import ControlRequestType
from kwire.net.connection import Connection
from kwire.net.frames import RequestFrame
from kwire.testing.local_kafka.errors import NodeFailed
from kwire.testing.local_kafka.node import random_uuid
from kwire.zookeeper.znodes.broker import BrokerEndpoint, BrokerZnode
from kwire.zookeeper.znodes.controller import ControllerZnode
from kwire.zookeeper.znodes.migration import MigrationZnode
from kwire.zookeeper.znodes.partition_state import PartitionStateZnode
from migrating.real_clusters.cluster import MigratingCluster
from migrating.real_clusters.layout import ControllerKind, MigratingLayout
from migrating.real_clusters.zookeeper_session import zookeeper_session
from migration_content import BenchmarkContent, write_content
from scripted_node import ScriptedNode
from simulated_broker import SimulatedBroker

PROPERTIES = {"broker.session.timeout.ms": "3600000"}
"""The simulated broker sends no heartbeats once it is unfenced."""

JVM = ("-Xmx1g",)
DEADLINE = 600.0
PARTITIONS = 10
"""Of each topic that is made in dual write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationTimes:
    """Seconds from the claim of /controller: until all is copied, and until brokers are told.

    cpu: seconds of the controller's process from the broker's registration to that end.
    """

    copied: float
    told: float
    cpu: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicTimes:
    """Milliseconds of one CreateTopics: to its answer, and from there until ZooKeeper has it."""

    answered: float
    lag: float


class MigrationSide:
    """A controller beside a full ZooKeeper; `migrate` comes first."""

    def __init__(self, cluster: MigratingCluster, client: KazooClient, broker_id: int) -> None:
        self.cluster = cluster
        self._client = client
        self._broker_id = broker_id
        self._node = ScriptedNode(
            {
                LeaderAndIsrRequest: self._take,
                UpdateMetadataRequest: lambda frame: UpdateMetadataResponse(),
                StopReplicaRequest: lambda frame: StopReplicaResponse(),
            }
        )
        self._told = asyncio.Event()
        self._told_at = 0.0

    @property
    def connect(self) -> str:
        """The zookeeper.connect of the cluster."""
        return self.cluster.zookeeper.connect

    async def migrate(self) -> tuple[MigrationTimes, SimulatedBroker]:
        """Register the broker, and wait until it has been told all; the broker goes on.

        The times are ZooKeeper's own: of the creation of /controller, and of the first change of
        /migration that has an offset. So a driver that polls seldom has no disadvantage.
        """
        controller = self._controller
        await self._node.start()
        self._register(self._node.port)
        cpu = controller.cpu
        broker = await SimulatedBroker.open(
            self._broker_id,
            controller.host,
            controller.port,
            listener=self._node.port,
            migrates=True,
        )
        async with asyncio.timeout(DEADLINE):
            copied = await asyncio.to_thread(self._wait_until_copied)
            await self._told.wait()
        stat = self._client.exists(ControllerZnode.path)
        assert stat is not None
        claimed = stat.ctime / 1000
        times = MigrationTimes(
            copied=copied - claimed, told=self._told_at - claimed, cpu=controller.cpu - cpu
        )
        return times, broker

    @property
    def _controller(self) -> Member:
        """The only controller."""
        [node] = self.cluster.controllers.values()
        return member_of(node)

    async def close(self) -> None:
        """Stop what listens for the broker."""
        await self._node.stop()

    def _wait_until_copied(self) -> float:
        """Return the time of the first change of /migration that has an offset, in seconds."""
        [controller] = self.cluster.controllers.values()
        while controller.alive:
            changed = Event()
            if self._client.exists(MigrationZnode.path, watch=partial(_set, changed)):
                data, stat = self._client.get(MigrationZnode.path)
                if MigrationZnode.parse(data, MigrationZnode.path).is_copied:
                    return float(stat.mtime) / 1000
            changed.wait(1.0)
        raise NodeFailed("The controller died.", controller.log(50))

    async def create_topics(self, rounds: int) -> list[TopicTimes]:
        """Create topics one after the other; the first one is not counted."""
        controller = self._controller
        async with await Connection.open(controller.host, controller.port) as connection:
            found = [
                await self._create_topic(connection, f"dual-{number:05}")
                for number in range(rounds + 1)
            ]
        return found[1:]

    async def _create_topic(self, connection: Connection, name: str) -> TopicTimes:
        last = PartitionStateZnode.path(name, PARTITIONS - 1)
        written = ZnodeCreation(self._client, last)
        topic = CreatableTopic(name=name, num_partitions=PARTITIONS, replication_factor=1)
        begin = time.perf_counter()
        answer = await connection.send(CreateTopicsRequest(topics=[topic], timeout_ms=60_000))
        answered = time.perf_counter()
        assert isinstance(answer, CreateTopicsResponse)
        assert answer.topics[0].error_code == 0, answer.topics[0]
        await asyncio.to_thread(written.wait)
        return TopicTimes(
            answered=(answered - begin) * 1000, lag=max(written.at - answered, 0.0) * 1000
        )

    def _register(self, port: int) -> None:
        endpoint = BrokerEndpoint(
            listener="PLAINTEXT", host="127.0.0.1", port=port, security_protocol="PLAINTEXT"
        )
        znode = BrokerZnode(endpoints=(endpoint,))
        self._client.create(BrokerZnode.path(self._broker_id), znode.encode(), ephemeral=True)

    def _take(self, frame: RequestFrame) -> LeaderAndIsrResponse:
        request = frame.body
        if isinstance(request, LeaderAndIsrRequest) and request.type == ControlRequestType.FULL:
            self._told_at = time.time()
            self._told.set()
        return LeaderAndIsrResponse()


class ZnodeCreation:
    """Waits for a znode that is not there yet; `at` is the moment when ZooKeeper told of it."""

    def __init__(self, client: KazooClient, path: str) -> None:
        self._created = Event()
        self.at = 0.0
        assert client.exists(path, watch=self._tell) is None

    def _tell(self, event: object) -> None:
        self.at = time.perf_counter()
        self._created.set()

    def wait(self) -> None:
        """Wait until it is there. Raises TimeoutError."""
        if not self._created.wait(DEADLINE):
            raise TimeoutError("ZooKeeper was not written.")


def _set(changed: Event, event: object) -> None:
    changed.set()


@contextmanager
def migration_side(kind: ControllerKind, content: BenchmarkContent) -> Iterator[MigrationSide]:
    """Yield a side that is ready to migrate: ZooKeeper is full, the controller waits."""
    layout = MigratingLayout(brokers=(), kind=kind, controller_properties=PROPERTIES, jvm=JVM)
    cluster = MigratingCluster(layout)
    try:
        cluster.zookeeper.start()
        with zookeeper_session(cluster.zookeeper.connect) as client:
            write_content(client, content, random_uuid())
            cluster.provision_controllers()
            yield MigrationSide(cluster, client, content.broker_id)
    finally:
        cluster.close()
