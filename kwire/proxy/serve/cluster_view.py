"""The cluster as clients of the proxy see it: its image, and its nodes at the proxy's addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kwire.image import MetadataImage
from kwire.net.address import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """The cluster at one moment.

    controller_id: the active controller, -1 if there is none. nodes: the proxy's address in front
    of each controller and broker. controllers: the ids of the controllers among them.
    """

    image: MetadataImage
    cluster_id: str | None
    controller_id: int
    nodes: Mapping[int, Address]
    controllers: frozenset[int]

    @property
    def alive(self) -> list[int]:
        """The ids of the nodes that a client may ask: controllers and unfenced brokers."""
        return [
            id
            for id in sorted(self.nodes)
            if id in self.controllers
            or ((broker := self.image.cluster.brokers.get(id)) is not None and not broker.fenced)
        ]

    def rack(self, node_id: int) -> str | None:
        """Return the rack of a broker, None for other nodes."""
        broker = self.image.cluster.brokers.get(node_id)
        return None if broker is None else broker.rack
