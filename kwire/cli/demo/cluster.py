"""The cluster of the demo: a quorum of three controllers and one more that joins it."""

from __future__ import annotations

from typing import Protocol

from kwire.net.address import Address
from kwire.testing.background import BackgroundQuorum

JOINING = 3003
"""The controller that starts as an observer and becomes a voter."""


class DemoCluster(Protocol):
    """A cluster that a demo can start. `make demo KAFKA=1` has another one, of real Kafka."""

    @property
    def controllers(self) -> dict[int, Address]:
        """Listener addresses of all controllers, JOINING included, fixed before any node runs."""

    @property
    def description(self) -> str:
        """The subject of the demo's first heading."""

    def advertise(self, node_id: int, address: Address) -> None:
        """Have a controller tell all other nodes this address, a proxy's, as its own."""

    def start(self) -> None:
        """Start every node and wait until each answers. Blocks; `close` from outside ends it."""

    def close(self) -> None:
        """Kill every node and remove its files."""


class KwireQuorum:
    """Controllers of kwire's own, in this process: nothing is downloaded, and no Java is needed."""

    def __init__(self) -> None:
        self._background = BackgroundQuorum(3)
        self._background.quorum.add_member(JOINING)

    @property
    def controllers(self) -> dict[int, Address]:
        """Listener addresses of all controllers."""
        addresses = self._background.quorum.addresses
        return {node_id: Address(host, port) for node_id, (host, port) in addresses.items()}

    @property
    def description(self) -> str:
        """The subject of the demo's first heading."""
        return "A quorum of kwire's own"

    def advertise(self, node_id: int, address: Address) -> None:
        """Have a controller tell all other nodes this address as its own."""
        self._background.quorum.advertise(node_id, address.host, address.port)

    def start(self) -> None:
        """Start every controller; return when one of them leads."""
        self._background.start()

    def close(self) -> None:
        """Stop every controller and remove its files."""
        self._background.close()
