"""The cluster of the demo: a quorum of three controllers and one more that joins it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from kwire.net.address import Address
from kwire.testing.background import BackgroundQuorum
from kwire.testing.local_brokers import LocalBrokers

JOINING = 3003
"""The controller that starts as an observer and becomes a voter."""


class DemoCluster(Protocol):
    """A cluster that a demo can start. `make demo KAFKA=1` has another one, of real Kafka."""

    @property
    def controllers(self) -> dict[int, Address]:
        """Listener addresses of all controllers, JOINING included, fixed before any node runs."""

    @property
    def brokers(self) -> dict[int, Address]:
        """Listener addresses of the brokers in front of which the proxy stands."""

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,...` of the brokers, for clients; empty if there are none."""

    @property
    def description(self) -> str:
        """The subject of the demo's first heading."""

    def advertise(self, node_id: int, address: Address) -> None:
        """Have a node tell all other nodes and clients this address, a proxy's, as its own."""

    def start(self) -> None:
        """Start every node and wait until each answers. Blocks; `close` from outside ends it."""

    def close(self) -> None:
        """Kill every node and remove its files."""


class KwireQuorum:
    """Controllers of kwire's own, in this process: nothing is downloaded, and no Java is needed.

    brokers: how many of Apache Kafka run beside them; they do need Java. progress: is told what is
    waited for.
    """

    def __init__(
        self, brokers: int = 0, progress: Callable[[str], None] = lambda text: None
    ) -> None:
        self._brokers = LocalBrokers(brokers, progress=progress)
        self._background = BackgroundQuorum(3, brokers=self._brokers, network=False)
        self._background.quorum.add_member(JOINING)
        if brokers:
            try:
                asyncio.run(self._brokers.prepare(self._background.quorum.folder))
            except BaseException:
                self.close()
                raise

    @property
    def controllers(self) -> dict[int, Address]:
        """Listener addresses of all controllers."""
        addresses = self._background.quorum.addresses
        return {node_id: Address(host, port) for node_id, (host, port) in addresses.items()}

    @property
    def brokers(self) -> dict[int, Address]:
        """Listener addresses of the brokers."""
        return self._brokers.listen_addresses()

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,...` of the brokers, for clients."""
        return self._brokers.bootstrap_servers

    @property
    def description(self) -> str:
        """The subject of the demo's first heading."""
        quorum = "A quorum of kwire's own"
        if self._brokers.count:
            return f"{quorum}, with brokers of Kafka {self._brokers.version},"
        return quorum

    def advertise(self, node_id: int, address: Address) -> None:
        """Have a node tell all other nodes and clients this address as its own."""
        if node_id in self._brokers.nodes:
            self._brokers.advertise(node_id, address)
            return
        self._background.quorum.advertise(node_id, address.host, address.port)

    def start(self) -> None:
        """Start every node; return when a controller leads and no broker is fenced."""
        self._background.start()

    def close(self) -> None:
        """Stop every node and remove its files."""
        self._background.close()
