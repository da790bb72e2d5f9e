"""A ZooKeeper in memory with brokers that migrate, for controllers that really run."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random
from typing import Any
from uuid import UUID

from kwire.controller.server.environment import Environment
from kwire.errors import KwireError
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.migration.node.extension import MigrationExtension
from kwire.net.connection import Connection
from kwire.net.tasks import cancel_and_wait
from kwire.testing.quorum import Quorum
from kwire.zookeeper import Create, ZnodeOperation, ZooKeeper, ZooKeeperUnreachable
from kwire.zookeeper.settings import ZooKeeperSettings
from kwire.zookeeper.znodes.broker import BrokerEndpoint, BrokerZnode
from kwire.zookeeper.znodes.controller import ControllerEpochZnode, ControllerZnode
from kwire.zookeeper.znodes.partition_state import PartitionStateZnode
from kwire.zookeeper.znodes.top_level import PERSISTENT_PATHS, with_parents
from kwire.zookeeper.znodes.topic import AssignedReplicas, TopicZnode
from migrating.memory_zookeeper import MemorySession, MemoryZooKeeper
from tests.support.seed import SEED

LEVEL = 21
"""3.9-IV0, the inter.broker.protocol.version of the brokers."""

ENDPOINT = BrokerEndpoint(
    listener="PLAINTEXT", host="127.0.0.1", port=9, security_protocol="PLAINTEXT"
)
BROKER = BrokerZnode(endpoints=(ENDPOINT,))
HEARTBEAT = 0.2
"""Seconds."""

PROPERTIES = {
    "zookeeper.metadata.migration.enable": "true",
    "zookeeper.connect": "127.0.0.1:2181",
    "broker.session.timeout.ms": "20000",
}


class ZooKeeperBrokers:
    """A ZooKeeper that broker 1 controls in epoch 7, and brokers that register and heartbeat.

    is_down: True to refuse sessions. sessions: those of controllers.
    """

    def __init__(self, *brokers: int) -> None:
        self.zookeeper = MemoryZooKeeper()
        self._random = Random(SEED)
        self.is_down = False
        self.sessions: list[MemorySession] = []
        self.brokers = brokers
        self.own = self.zookeeper.open_session()
        self._tasks: list[asyncio.Task[None]] = []
        paths = dict.fromkeys(path for top in PERSISTENT_PATHS for path in with_parents(top))
        self.write(
            *(Create(path) for path in paths),
            *(Create(BrokerZnode.path(id), BROKER.encode(), ephemeral=True) for id in brokers),
            Create("/controller", ControllerZnode(broker_id=1).encode(), ephemeral=True),
            Create("/controller_epoch", ControllerEpochZnode(7).encode()),
        )

    def write(self, *operations: ZnodeOperation) -> None:
        """Write to ZooKeeper as a broker."""
        outcome = self.zookeeper.multi(self.own, operations)
        assert isinstance(outcome, list), outcome

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Create a topic in ZooKeeper, as its controller does."""
        replicas = AssignedReplicas(self.brokers)
        id = UUID(bytes=name.encode().ljust(16, b"_"))
        topic = TopicZnode(topic_id=id, partitions=dict.fromkeys(range(partitions), replicas))
        state = PartitionStateZnode(
            controller_epoch=7, leader=self.brokers[0], leader_epoch=3, isr=self.brokers
        )
        self.write(
            Create(TopicZnode.path(name), topic.encode()),
            Create(f"/config/topics/{name}", b'{"version":1,"config":{}}'),
            Create(TopicZnode.partitions_path(name)),
            *(Create(TopicZnode.partition_path(name, number)) for number in range(partitions)),
            *(
                Create(PartitionStateZnode.path(name, number), state.encode())
                for number in range(partitions)
            ),
        )

    async def open(self, settings: ZooKeeperSettings) -> ZooKeeper:
        """Open the session of a controller."""
        if self.is_down:
            raise ZooKeeperUnreachable("no ZooKeeper answers")
        session = self.zookeeper.open_session()
        self.sessions.append(session)
        return session

    def environment(self) -> Environment:
        """Return the environment of controllers that migrate from here."""
        return Environment(random=Random(self._random.random()))

    def quorum(self, size: int = 1, **options: Any) -> Quorum:
        """Return controllers that migrate from here."""
        return Quorum(
            size,
            release="3.9",
            properties=PROPERTIES,
            environment_of=lambda node_id: self.environment(),
            extension_of=lambda config: MigrationExtension.of(config, self.open),
            **options,
        )

    def start_brokers(self, quorum: Quorum) -> None:
        """Have every broker register with the leader, and keep its session."""
        for id in self.brokers:
            work = _run_broker(quorum, id)
            self._tasks.append(asyncio.get_running_loop().create_task(work))

    async def stop(self) -> None:
        """End the brokers."""
        await cancel_and_wait(self._tasks)

    @property
    def topics(self) -> list[str]:
        """The topics of ZooKeeper."""
        return self.zookeeper.children(TopicZnode.parent)


async def _run_broker(quorum: Quorum, id: int) -> None:
    """Register with whoever leads, and send heartbeats, for ever."""
    while True:
        with suppress(KwireError, OSError):
            leader = quorum.leader
            if leader is not None:
                await _serve(quorum, leader.node_id, id)
        await asyncio.sleep(HEARTBEAT)


async def _serve(quorum: Quorum, leader: int, id: int) -> None:
    async with await Connection.open(*quorum.addresses[leader]) as connection:
        answer = await connection.send(_registration(quorum.cluster_id, id))
        assert isinstance(answer, BrokerRegistrationResponse)
        while not answer.error_code:
            request = BrokerHeartbeatRequest(
                broker_id=id,
                broker_epoch=answer.broker_epoch,
                current_metadata_offset=answer.broker_epoch + 1_000_000,
            )
            alive = await connection.send(request)
            assert isinstance(alive, BrokerHeartbeatResponse)
            if alive.error_code:
                return
            await asyncio.sleep(HEARTBEAT)


def _registration(cluster_id: str, id: int) -> BrokerRegistrationRequest:
    features = {"metadata.version": (LEVEL, LEVEL), "kraft.version": (0, 1)}
    return BrokerRegistrationRequest(
        broker_id=id,
        cluster_id=cluster_id,
        incarnation_id=UUID(int=(7 << 64) + id),
        is_migrating_zk_broker=True,
        listeners=[Listener(name="PLAINTEXT", host="127.0.0.1", port=9, security_protocol=0)],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in features.items()
        ],
        rack=None,
        log_dirs=(UUID(int=(9 << 64) + id),),
    )
