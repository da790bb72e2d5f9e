"""The cluster of the demo without Java: controllers of kwire's own, in this process."""

from __future__ import annotations

from kwire.cli.demo_kafka import JOINING
from kwire.controller.server.background import BackgroundQuorum
from kwire.net.address import Address


class KwireQuorum:
    """Three controllers of kwire's and one that joins them."""

    def __init__(self) -> None:
        self._background = BackgroundQuorum(3)
        self._background.quorum.add_member(JOINING)

    @property
    def controllers(self) -> dict[int, Address]:
        """As in DemoCluster."""
        at = self._background.quorum.addresses
        return {node_id: Address(host, port) for node_id, (host, port) in at.items()}

    @property
    def what(self) -> str:
        """As in DemoCluster."""
        return "A quorum of kwire's own"

    def advertise(self, node_id: int, address: Address) -> None:
        """As in DemoCluster."""
        self._background.quorum.advertise(node_id, address.host, address.port)

    def start(self) -> None:
        """As in DemoCluster."""
        self._background.start()

    def close(self) -> None:
        """As in DemoCluster."""
        self._background.close()
