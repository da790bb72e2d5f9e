"""Real Kafka's nodes in a quorum of kwire's, and a controller of kwire's in a quorum of Kafka's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from ssl import SSLContext
from typing import Protocol
from uuid import UUID

from kwire.batches import read_batches
from kwire.codec.declaration import Response
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.node import ControllerNode
from kwire.logdir.format import FormatOptions, plan, write
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.net.connection import Connection
from kwire.net.quorum_request import quorum_request
from kwire.net.sasl import Credentials
from kwire.testing.local_kafka.node import KafkaNode, KafkaVoter, KnownQuorum
from kwire.text.ids import uuid_text
from real_kafka import Address, Cluster, RunningNode, free_port
from real_kafka.choice import Launcher
from tests.support.eventually import eventually

QUICK_BROKER = {
    "offsets.topic.num.partitions": "3",
    "replica.lag.time.max.ms": "6000",
}


class ControllerPlace(Protocol):
    """A controller of kwire's, with its addresses."""

    @property
    def directory_id(self) -> UUID: ...

    @property
    def port(self) -> int: ...


class KwireQuorum(Protocol):
    """Controllers of kwire's, in this process or in their own."""

    @property
    def cluster_id(self) -> str: ...

    @property
    def members(self) -> Mapping[int, ControllerPlace]: ...


class JavaNodes:
    """Kafka's brokers and controllers that know the controllers of one kwire quorum."""

    def __init__(self, kafka: Launcher, quorum: KwireQuorum, version: str = "4.3.1") -> None:
        self._quorum = quorum
        self._site = kafka.site(version, lambda text: None)

    def make(
        self,
        node_id: int,
        role: str,
        properties: Mapping[str, str] | None = None,
        jvm: tuple[str, ...] = (),
    ) -> RunningNode:
        """A broker, or a controller that joins as an observer; formatted at its first start."""
        machine = self._site.machine(node_id)
        voters = tuple(
            KafkaVoter(
                node_id=id,
                directory_id=uuid_text(member.directory_id),
                address=Address("127.0.0.1", member.port),
            )
            for id, member in self._quorum.members.items()
        )
        node = KafkaNode(
            node_id=node_id,
            roles=(role,),
            listeners=self._site.listeners(node_id, (role,)),
            quorum=KnownQuorum(cluster_id=self._quorum.cluster_id, voters=voters),
            folder=machine.folder,
            properties={**(QUICK_BROKER if role == "broker" else {}), **(properties or {})},
            jvm=jvm,
        )
        return RunningNode(node, machine, lambda text: None)

    def close(self) -> None:
        """Kill every node and remove what is theirs."""
        self._site.close()


def kwire_controller(cluster: Cluster, node_id: int, folder: Path) -> ControllerNode:
    """A controller of kwire's, formatted, that joins Kafka's quorum by itself."""
    address = f"CONTROLLER://127.0.0.1:{free_port()}"
    config = NodeConfig.of(
        {
            "process.roles": "controller",
            "node.id": str(node_id),
            "log.dirs": str(folder / f"node-{node_id}"),
            "listeners": address,
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": cluster.bootstrap_controllers,
            "controller.quorum.auto.join.enable": "true",
        }
    )
    options = FormatOptions(cluster_id=cluster.cluster_id, no_initial_controllers=True)
    write(plan(config.storage, options), datetime.now(UTC))
    return ControllerNode(config)


async def until_voters(node: ControllerNode, ids: set[int], timeout: float = 60) -> None:
    """Wait until these are the voters that a controller of kwire's has committed."""
    async with asyncio.timeout(timeout):
        await node.metadata.until(lambda: set(node.raft.voters.ids) == ids)


async def until_active(*nodes: ControllerNode, timeout: float = 60) -> ControllerNode:
    """Wait until one of them leads; that one."""
    waits = [asyncio.create_task(_active(node)) for node in nodes]
    try:
        done, _ = await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    assert done, f"none of {[node.node_id for node in nodes]} leads after {timeout:.0f} s"
    return done.pop().result()


async def _active(node: ControllerNode) -> ControllerNode:
    await node.metadata.until(lambda: node.metadata.is_active)
    return node


async def until_caught_up(
    leader: ControllerNode,
    node_id: int,
    timeout: float = 60,
    *,
    tls: SSLContext | None = None,
    sasl: Credentials | None = None,
) -> None:
    """Wait until a replica has everything that the leader of kwire's has."""
    at = leader.config.listeners[0]
    async with (
        asyncio.timeout(timeout),
        await Connection.open("127.0.0.1", at.port, ssl=tls, sasl=sasl) as connection,
    ):

        def has_all(answer: Response) -> bool:
            assert isinstance(answer, DescribeQuorumResponse)
            quorum = answer.topics[0].partitions[0]
            replicas = [*quorum.current_voters, *quorum.observers]
            ends = [replica.log_end_offset for replica in replicas if replica.replica_id == node_id]
            return bool(ends) and max(ends) >= quorum.high_watermark > 0

        await eventually(
            lambda: connection.send(quorum_request()), has_all, timeout=timeout, pause=0.1
        )


def segment(data: Path | str) -> Path:
    """The first segment of the metadata log in a node's data directory."""
    return Path(data) / "__cluster_metadata-0" / f"{0:020d}.log"


def log_bytes(data: Path | str, end: int) -> bytes:
    """The batches below an offset, as they lie in a node's data directory."""
    batches = read_batches(segment(data).read_bytes())
    return b"".join(batch.data for batch in takewhile(lambda one: one.last_offset < end, batches))
