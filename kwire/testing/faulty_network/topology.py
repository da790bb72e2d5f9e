"""The nodes of a cluster behind the faulty network: where each listens, and what it advertises.

A node advertises the address at which the proxy listens for it, so that clients and other nodes
come through; the proxy alone knows where the node itself listens.
"""

from __future__ import annotations

from dataclasses import dataclass

from kwire.errors import InvalidValue
from kwire.net.address import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultNode:
    """One listener of a node. advertised: the proxy's address; upstream: the node's own."""

    node_id: int
    is_controller: bool
    advertised: Address
    upstream: Address


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultTopology:
    """The listeners of all nodes; a combined node has two. spare_voter: id of a controller that
    may be made a voter and removed again, None for none."""

    nodes: tuple[FaultNode, ...]
    spare_voter: int | None = None

    def __post_init__(self) -> None:
        if not self.controllers:
            raise InvalidValue("a topology needs the controllers: their listeners and advertised")
        addresses = [node.advertised for node in self.nodes]
        if len(set(addresses)) != len(addresses):
            raise InvalidValue("two nodes of the topology advertise the same address")

    @property
    def controllers(self) -> tuple[int, ...]:
        """The ids of the controllers, the spare voter not among them."""
        ids = (node.node_id for node in self.nodes if node.is_controller)
        return tuple(dict.fromkeys(id for id in ids if id != self.spare_voter))

    @property
    def brokers(self) -> tuple[int, ...]:
        """The ids of the brokers."""
        return tuple(dict.fromkeys(node.node_id for node in self.nodes if not node.is_controller))

    def advertised(self, node_id: int, *, controller: bool) -> Address:
        """Return the proxy's address of a node. Raises KeyError."""
        return self._node(node_id, controller).advertised

    def upstream_of(self, advertised: Address) -> Address:
        """Return the node's own address behind one that it advertises; others as they are."""
        return next(
            (node.upstream for node in self.nodes if node.advertised == advertised), advertised
        )

    def _node(self, node_id: int, controller: bool) -> FaultNode:
        for node in self.nodes:
            if node.node_id == node_id and node.is_controller == controller:
                return node
        raise KeyError(node_id)
