"""Brokers of Apache Kafka beside a quorum, as processes of a local Java.

They end with their owner, also if it is killed with -9 (kwire/testing/local_kafka/guard.py).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from uuid import UUID

from kwire.errors import InvalidValue
from kwire.messages.metadata_versions import LATEST_PRODUCTION, NAMES
from kwire.net.address import Address
from kwire.testing.local_kafka.guard import Guard
from kwire.testing.local_kafka.installed import installed
from kwire.testing.local_kafka.jars import VERSIONS
from kwire.testing.local_kafka.local import LocalLauncher
from kwire.testing.local_kafka.local_site import LocalSite
from kwire.testing.local_kafka.node import (
    BROKER,
    KafkaNode,
    KafkaVoter,
    KnownQuorum,
    NodeListener,
)
from kwire.testing.local_kafka.running import DEADLINE, RunningNode
from kwire.text.ids import uuid_text

FIRST_BROKER = 1
DEFAULT_VERSION = "4.3.1"
MOST = 9
OLDEST = (3, 9)
"""The first release whose brokers know controller.quorum.bootstrap.servers (KIP-853)."""


class LocalBrokers:
    """Brokers with ids from 1 on.

    version: of Kafka; its jars are loaded through Maven on first use. kafka: the folder of an
    unpacked release, from 3.9 on, in place of that, by default $KAFKA_HOME. properties: of
    server.properties, for all brokers. ports: of 127.0.0.1, one for each broker; by default free
    ones. progress: is told what is being done. timeout: seconds for each broker to start.
    """

    def __init__(
        self,
        count: int,
        *,
        version: str | None = None,
        kafka: Path | None = None,
        properties: Mapping[str, str] | None = None,
        ports: Sequence[int] = (),
        progress: Callable[[str], None] = lambda text: None,
        timeout: float = DEADLINE,
    ) -> None:
        if not 0 <= count <= MOST:
            raise InvalidValue(f"a quorum has 0 to {MOST} brokers beside it, not {count}")
        if ports and len(ports) != count:
            raise InvalidValue(f"{count} brokers need {count} ports, not {len(ports)}")
        self.count = count
        self._ports = tuple(ports)
        home = os.environ.get("KAFKA_HOME")
        if kafka is None and home and version is None:
            kafka = Path(home)
        self._kafka = installed(kafka) if kafka is not None and count else None
        self.version = self._kafka.version if self._kafka else version or DEFAULT_VERSION
        self._check_version(version)
        self._properties = {**_internal_topics(count), **(properties or {})}
        self._progress = progress
        self._timeout = timeout
        self._site: LocalSite | None = None
        self._guard: Guard | None = None
        self._advertised: dict[int, Address] = {}
        self.nodes: dict[int, RunningNode] = {}

    def _check_version(self, chosen: str | None) -> None:
        if self._kafka is None:
            if self.version not in VERSIONS:
                known = ", ".join(VERSIONS)
                raise InvalidValue(
                    f"Kafka {self.version} is none that is loaded ({known}): name the folder of an"
                    " unpacked release (`kafka`, $KAFKA_HOME)"
                )
            return
        if chosen not in (None, self.version):
            raise InvalidValue(f"{self._kafka.home} is Kafka {self.version}, not {chosen}")
        if _release(self.version) < OLDEST:
            raise InvalidValue(
                f"{self._kafka.home} is Kafka {self.version}, whose brokers do not know"
                " controller.quorum.bootstrap.servers: name a release from 3.9 on"
            )

    @property
    def release(self) -> str:
        """The metadata.version of a cluster with these brokers, as `4.3`: the controllers' newest
        one at most.
        """
        newest = _release(NAMES[LATEST_PRODUCTION].partition("-")[0])
        return ".".join(map(str, min(_release(self.version), newest)))

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,...` that the brokers advertise."""
        return ",".join(str(self._address(id)) for id in self.nodes)

    @property
    def addresses(self) -> dict[int, Address]:
        """The address that each broker advertises, by id."""
        return {id: self._address(id) for id in self.nodes}

    def _address(self, node_id: int) -> Address:
        return self._advertised.get(node_id) or self.nodes[node_id].broker_address

    def listen_addresses(self) -> dict[int, Address]:
        """Return the brokers' own addresses, which a proxy in front of them connects to."""
        return {id: node.broker_address for id, node in self.nodes.items()}

    def advertise(self, node_id: int, address: Address) -> None:
        """Have a broker advertise an address of a proxy. Call it before the broker starts."""
        self._advertised[node_id] = address
        self.nodes[node_id].configure({"advertised.listeners": f"PLAINTEXT://{address}"})

    async def prepare(self, folder: Path | None = None) -> None:
        """Find Java and the jars, and reserve ports.

        folder: removed at the end, too, also after kill -9. Does nothing the second time. Raises
        KafkaUnavailable.
        """
        if self._guard is not None:
            return
        self._guard = Guard()  # at once: jars may be loaded for minutes
        if folder is not None:
            self._guard.keep("folder", str(folder))
        self._site = await asyncio.to_thread(self._prepared, self._guard)

    def _prepared(self, guard: Guard) -> LocalSite:
        site = LocalLauncher(self._kafka, guard).site(self.version, self._progress)
        for node_id in range(FIRST_BROKER, FIRST_BROKER + self.count):
            machine = site.machine(node_id)
            node = KafkaNode(
                node_id=node_id,
                roles=("broker",),
                listeners=self._listeners(site, node_id),
                quorum=KnownQuorum(cluster_id="", voters=()),
                folder=machine.folder,
                properties=self._properties,
            )
            self.nodes[node_id] = RunningNode(node, machine, self._progress)
        return site

    def _listeners(self, site: LocalSite, node_id: int) -> tuple[NodeListener, ...]:
        if not self._ports:
            return site.listeners(node_id, ("broker",))
        at = Address("127.0.0.1", self._ports[node_id - FIRST_BROKER])
        return (NodeListener(name=BROKER, listens=at, advertised=at, reached=at),)

    async def start(self, cluster_id: str, voters: Mapping[int, tuple[UUID, Address]]) -> None:
        """Start all brokers; return when none is fenced. The voters serve already.

        Raises NodeFailed, with the end of the broker's log.
        """
        known = tuple(
            KafkaVoter(node_id=id, directory_id=uuid_text(directory), address=address)
            for id, (directory, address) in voters.items()
        )
        for node in self.nodes.values():
            node.join(KnownQuorum(cluster_id=cluster_id, voters=known))
        starts = [asyncio.to_thread(node.start, self._timeout) for node in self.nodes.values()]
        await asyncio.gather(*starts)
        for node in self.nodes.values():
            await asyncio.to_thread(node.wait_until_it_lists, self.count, self._timeout)

    async def kill(self, node_id: int) -> None:
        """Kill -9 a broker."""
        await asyncio.to_thread(self.nodes[node_id].kill)

    async def kill_all(self) -> None:
        """Kill -9 all brokers; their files stay until `close`."""
        await asyncio.gather(*(self.kill(node_id) for node_id in self.nodes))

    async def restart(self, node_id: int) -> None:
        """Stop a broker in a controlled shutdown if it runs, and start it on the same data."""
        node = self.nodes[node_id]
        if node.alive:
            node.resume()
        await asyncio.to_thread(node.restart, self._timeout)

    def log(self, node_id: int, lines: int = 100) -> str:
        """Return the last lines of a broker's log."""
        return self.nodes[node_id].log(lines)

    async def close(self) -> None:
        """Kill all brokers and remove their files."""
        if self._site is not None:
            site, self._site = self._site, None
            await asyncio.to_thread(site.close)
        if self._guard is not None:
            guard, self._guard = self._guard, None
            await asyncio.to_thread(guard.close)


def _release(version: str) -> tuple[int, int]:
    """Return the first two numbers of a version."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _internal_topics(brokers: int) -> dict[str, str]:
    """Return the replication of internal topics: on all brokers, as far as Kafka goes itself."""
    replicas = str(max(1, min(brokers, 3)))
    return {
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "share.coordinator.state.topic.replication.factor": replicas,
        "replica.lag.time.max.ms": "6000",
    }
