"""What a cluster looks like from the proxy: the image, and the nodes at the proxy's addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kwire.image import MetadataImage
from kwire.net.address import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """One moment of it.

    controller_id: the active one, -1 while there is none. nodes: where the proxy stands for each
    node, controllers and brokers. controllers: which of them are controllers.
    """

    image: MetadataImage
    cluster_id: str | None
    controller_id: int
    nodes: Mapping[int, Address]
    controllers: frozenset[int]

    @property
    def alive(self) -> list[int]:
        """The nodes that a client may ask: controllers, and brokers that are not fenced."""
        return [
            id
            for id in sorted(self.nodes)
            if id in self.controllers
            or ((broker := self.image.cluster.brokers.get(id)) is not None and not broker.fenced)
        ]

    def rack(self, node_id: int) -> str | None:
        """Of a broker."""
        broker = self.image.cluster.brokers.get(node_id)
        return None if broker is None else broker.rack
