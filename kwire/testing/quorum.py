"""A quorum of controllers in this process: no Java, no file to write, a second to start.

With `brokers`, brokers of Apache Kafka run beside it, as processes of a local Java.

async with Quorum(3) as quorum:
    admin = AdminClient(bootstrap_controllers=quorum.bootstrap_controllers)
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self
from uuid import UUID

from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.environment import Environment
from kwire.controller.server.extension import Extension
from kwire.controller.server.node import ControllerNode
from kwire.errors import InvalidValue
from kwire.logdir.format import random_uuid
from kwire.logdir.scram import FirstCredential
from kwire.testing.faulty_network.fault import FaultKind
from kwire.testing.local_brokers import LocalBrokers
from kwire.testing.message_faults import MessageFaults
from kwire.testing.quorum_members import (
    LISTENER,
    LOCAL,
    QuorumMember,
    QuorumMembers,
)
from kwire.testing.quorum_network import QuorumNetwork
from kwire.text.ids import uuid_text

FIRST_ID = 3000
READY = 30.0
"""Seconds until a quorum has a leader that serves."""


class Quorum:
    """Controllers on 127.0.0.1, their data in a folder that goes with them.

    size: the number of initial voters, with ids from 3000 on.
    properties: further settings of Kafka's server.properties, for all controllers.
    folder: for the data, which is kept then; by default a temporary one, removed at the end.
    release: metadata.version of the cluster, as `4.3` or `3.9-IV0`.
    metered: True to have the controllers count their requests.
    ports: of the voters, in the order of their ids; by default free ones.
    scram: users who can log in at once, if the properties have SASL listeners.
    environment: random source, time of day and disk; by default the machine's.
    environment_of: called with a node id at each start of it; returns the controller's own random
    source, time of day and disk. By default all have those of `environment`.
    brokers: how many brokers of Apache Kafka run beside the controllers, or the LocalBrokers. They
    need Java; `bootstrap_servers` is their address.
    network: True for a proxy before every node, for `partition`; by default if there are brokers.
    """

    def __init__(
        self,
        size: int = 3,
        *,
        properties: Mapping[str, str] | None = None,
        folder: Path | None = None,
        release: str | None = None,
        cluster_id: str | None = None,
        metered: bool = False,
        ports: Sequence[int] = (),
        scram: Sequence[FirstCredential] = (),
        environment: Environment | None = None,
        environment_of: Callable[[int], Environment] | None = None,
        extension_of: Callable[[NodeConfig], Extension] = lambda config: Extension(),
        brokers: int | LocalBrokers = 0,
        network: bool | None = None,
    ) -> None:
        if size < 1:
            raise InvalidValue("a quorum has at least one controller")
        if ports and len(ports) != size:
            raise InvalidValue(f"{size} controllers need {size} ports, not {len(ports)}")
        self._environment = environment or Environment()
        self._environment_of = environment_of or (lambda node_id: self._environment.fork())
        self.cluster_id = cluster_id or uuid_text(self._new_id())
        self._extension_of = extension_of
        self._metered = metered
        self.brokers = LocalBrokers(brokers) if isinstance(brokers, int) else brokers
        if self.brokers.count and release is None:
            release = self.brokers.release
        self._own: tempfile.TemporaryDirectory[str] | None = None
        if folder is None:
            self._own = tempfile.TemporaryDirectory(prefix="kwire-quorum-")
        self.folder = folder or Path(self._own.name if self._own else "")
        self._members = QuorumMembers(
            self.folder,
            cluster_id=self.cluster_id,
            properties=properties or {},
            release=release,
            scram=scram,
            new_id=self._new_id,
        )
        for index in range(size):
            port = ports[index] if ports else None
            self._members.add(FIRST_ID + index, is_voter=True, port=port)
        self._slow_disks: dict[int, float] = {}
        self._resumptions: dict[int, asyncio.TimerHandle] = {}
        wants_network = bool(self.brokers.count) if network is None else network
        self._network = QuorumNetwork() if wants_network else None

    def _new_id(self) -> UUID:
        return random_uuid(self._environment.new_uuid)

    @property
    def members(self) -> dict[int, QuorumMember]:
        """The controllers, running or not, by node id."""
        return self._members.by_id

    def add_member(
        self,
        node_id: int,
        *,
        properties: Mapping[str, str] | None = None,
        port: int | None = None,
    ) -> QuorumMember:
        """Add a controller, which starts as an observer (KIP-853); return its member.

        port: of its listener; by default a free one.
        """
        if node_id in self.members:
            raise InvalidValue(f"there is a controller {node_id} already")
        return self._members.add(node_id, is_voter=False, properties=properties, port=port)

    def advertise(self, node_id: int, host: str, port: int) -> None:
        """Have a controller advertise a host and port. Call it before any controller starts."""
        self.members[node_id].advertised = (host, port)

    @property
    def addresses(self) -> dict[int, tuple[str, int]]:
        """Host and port of each controller's listener, by node id."""
        return {id: (LOCAL, member.port) for id, member in self.members.items()}

    @property
    def advertised(self) -> dict[int, tuple[str, int]]:
        """Host and port that each controller tells others, by node id: those of its proxy."""
        return {id: member.advertised for id, member in self.members.items()}

    @property
    def bootstrap_controllers(self) -> str:
        """`host:port,...` of the controllers, for clients."""
        if self._network is not None:
            return ",".join(f"{host}:{port}" for host, port in self.advertised.values())
        return ",".join(f"{LOCAL}:{member.port}" for member in self.members.values())

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,...` of the brokers, for clients; empty if there are none."""
        return self.brokers.bootstrap_servers

    @property
    def nodes(self) -> dict[int, ControllerNode]:
        """The running controllers, by node id."""
        return {
            id: member.node
            for id, member in self.members.items()
            if member.node is not None and member.node.running
        }

    @property
    def leader(self) -> ControllerNode | None:
        """The active controller, which may write; None if there is none now."""
        # A former leader that stood still may believe it leads, in an earlier epoch.
        active = [node for node in self.nodes.values() if node.metadata.is_active]
        return max(active, key=lambda node: node.raft.epoch, default=None)

    async def start(self, timeout: float = READY) -> None:
        """Start all controllers, then the brokers; return when one controller is active and no
        broker is fenced.

        Raises RealKafkaError if the brokers cannot run here or do not start.
        """
        if self.brokers.count:
            await self.brokers.prepare(self.folder if self._own else None)
        if self._network is not None:
            await self._network.start(self)
        for node_id in self.members:
            await self.start_node(node_id)
        await self.wait_for_leader(timeout)
        # Observers start when the voters serve (docs/decisions/0050-start-order.md).
        if self.brokers.count:
            await self.brokers.start(self.cluster_id, self._members.voter_addresses())

    async def kill(self, node_id: int) -> None:
        """End a controller or a broker at once, as a power cut would."""
        if node_id in self.brokers.nodes:
            await self.brokers.kill(node_id)
        else:
            await self._running(node_id).kill()

    async def restart(self, node_id: int) -> None:
        """Start a controller or a broker again, after `kill` or while it runs."""
        if node_id in self.brokers.nodes:
            await self.brokers.restart(node_id)
            return
        self._member_of(node_id)
        if node_id in self.nodes:
            await self.nodes[node_id].stop()
        await self.start_node(node_id)

    async def pause(self, node_id: int, seconds: float) -> None:
        """Have a controller or a broker stand still; return at once, it goes on by itself.

        A broker's process gets SIGSTOP. A controller shares this process: it takes no request,
        sends no answer and no request of its own, and neither votes nor writes meanwhile.
        """
        loop = asyncio.get_running_loop()
        if node_id in self.brokers.nodes:
            node = self.brokers.nodes[node_id]
            node.suspend()
            self._resumptions[node_id] = loop.call_later(seconds, node.resume)
            return
        controller = self._running(node_id)
        controller.suspend()
        self._resumptions[node_id] = loop.call_later(seconds, controller.resume)

    def slow_disk(self, node_id: int, seconds: float) -> None:
        """Make every flush of a controller's log take so much longer; 0 ends that."""
        node = self._running(node_id)
        if not 0 <= seconds < float("inf"):
            raise InvalidValue(f"a disk is not slower by {seconds} s")
        self._slow_disks[node_id] = node.runtime.flush_delay = seconds

    def partition(self, group: Iterable[int], others: Iterable[int] = ()) -> None:
        """Cut the links between two groups of nodes until `heal`; clients still reach all nodes.

        others: by default all nodes that are not in the group.
        """
        self._links.cut(FaultKind.PARTITION, group, others)

    def one_way(self, group: Iterable[int], others: Iterable[int] = ()) -> None:
        """Hold what the nodes of a group ask the others until `heal`; the others' requests pass."""
        self._links.cut(FaultKind.ONE_WAY, group, others)

    def heal(self) -> None:
        """Mend all links; what they held arrives now."""
        self._links.heal()

    @property
    def faults(self) -> MessageFaults:
        """Faults in the messages that nodes get from clients and from each other."""
        return self._links.faults

    @property
    def _links(self) -> QuorumNetwork:
        if self._network is None:
            raise InvalidValue("the quorum has no proxies before its nodes: pass network=True")
        return self._network

    def _member_of(self, node_id: int) -> QuorumMember:
        if node_id not in self.members:
            known = ", ".join(map(str, [*self.members, *self.brokers.nodes]))
            raise InvalidValue(f"there is no node {node_id}: the nodes are {known}")
        return self.members[node_id]

    def _running(self, node_id: int) -> ControllerNode:
        self._member_of(node_id)
        if node_id not in self.nodes:
            raise InvalidValue(f"controller {node_id} does not run: restart it first")
        return self.nodes[node_id]

    async def wait_for_leader(self, timeout: float = READY) -> int:
        """Return the id of the active controller as soon as there is one; TimeoutError if not."""
        return (await self.active_controller(timeout)).node_id

    async def active_controller(self, timeout: float = READY) -> ControllerNode:
        """Return the active controller as soon as there is one that has committed the records with
        which a cluster begins; TimeoutError if there is none.
        """
        async with asyncio.timeout(timeout):
            while (leader := self.leader) is None or not _serves(leader):
                running = self.nodes.values()
                waits = [asyncio.ensure_future(_service(node)) for node in running]
                if not waits:
                    raise InvalidValue("no controller of the quorum runs")
                try:
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for wait in waits:
                        wait.cancel()
        return leader

    async def start_node(self, node_id: int) -> ControllerNode:
        """Start a controller; its directory is formatted before the first start."""
        member = self.members[node_id]
        config = self.node_config(node_id)
        environment = self._environment_of(node_id)
        self._members.format_once(node_id, config, environment)
        bound, member.bound = member.bound, None
        sockets = {LISTENER: bound} if bound else None
        member.node = ControllerNode(
            config,
            sockets,
            metered=self._metered,
            environment=environment,
            extension=self._extension_of(config),
        )
        await member.node.start()
        member.node.runtime.flush_delay = self._slow_disks.get(node_id, 0.0)
        return member.node

    def node_config(self, node_id: int) -> NodeConfig:
        """Return the settings of a controller. InvalidValue for an invalid one."""
        return NodeConfig.of(self.server_properties(node_id))

    def server_properties(self, node_id: int) -> dict[str, str]:
        """Return the server.properties of a controller."""
        return self._members.server_properties(node_id)

    async def stop(self) -> None:
        """Stop the brokers and all controllers, followers first; remove a temporary folder."""
        for resumption in self._resumptions.values():
            resumption.cancel()
        await self.brokers.kill_all()
        # The leader last: no election begins while the followers stop.
        running = self.nodes.values()
        for node in sorted(running, key=lambda node: node.metadata.is_active):
            await node.kill()
        self._members.close()
        if self._network is not None:
            await self._network.stop()
        if self._own:
            self._own.cleanup()
        await self.brokers.close()

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()


async def _service(node: ControllerNode) -> None:
    await node.metadata.until(lambda: _serves(node))


def _serves(node: ControllerNode) -> bool:
    # Until the first records are committed a cluster has the lowest metadata.version.
    return node.metadata.is_active and node.metadata.image.features.has_metadata_version
