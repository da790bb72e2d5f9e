"""The cluster of the demo: a quorum of three controllers, a broker, and a controller that joins.

The nodes are real Kafka as local processes, by the same code as in the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kwire.cli.failure import Failure
from kwire.net.address import Address

JOINING = 3003
"""The controller that starts as an observer."""


class DemoCluster(Protocol):
    """What the demo needs of a cluster, whatever its nodes are made of."""

    @property
    def controllers(self) -> dict[int, Address]:
        """Where each controller listens, settled before anything runs; the joining one included."""

    @property
    def what(self) -> str:
        """What it is, in words."""

    def advertise(self, node_id: int, address: Address) -> None:
        """Have a controller tell all others that it is reached there: at the proxy."""

    def start(self) -> None:
        """Start every node and wait until each answers. Blocks; `close` from outside ends it."""

    def close(self) -> None:
        """Kill every node, leave nothing behind."""


class RealKafka:
    """Kafka 4.3.1 in local JVMs."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        try:
            from real_kafka import Cluster, Layout, launcher
        except ImportError as error:
            raise Failure(
                "the demo starts real Kafka through the code of kwire's tests, which is in a"
                " checkout only: clone the repository and run `make demo`."
            ) from error
        self._cluster = Cluster(launcher("local"), Layout.quorum(), progress)
        self._cluster.add_node(JOINING)

    @property
    def controllers(self) -> dict[int, Address]:
        """As in DemoCluster."""
        return {id_: node.controller_address for id_, node in self._cluster.controllers.items()}

    @property
    def what(self) -> str:
        """As in DemoCluster."""
        return f"Apache Kafka {self._cluster.layout.version}"

    def advertise(self, node_id: int, address: Address) -> None:
        """As in DemoCluster."""
        self._cluster.nodes[node_id].advertise(address)

    def start(self) -> None:
        """As in DemoCluster."""
        self._cluster.start()

    def close(self) -> None:
        """As in DemoCluster."""
        self._cluster.close()
