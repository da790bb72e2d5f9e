"""The network of a quorum: a proxy before every controller and broker, whose links can be cut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kwire.errors import InvalidValue
from kwire.net.address import Address
from kwire.testing.faulty_network.fault import FaultEvent, FaultKind
from kwire.testing.faulty_network.network import FaultyNetwork
from kwire.testing.faulty_network.topology import FaultNode, FaultTopology
from kwire.testing.local_kafka.address import free_port
from kwire.testing.message_faults import MessageFaults

LOCAL = "127.0.0.1"


class _Brokers(Protocol):
    def listen_addresses(self) -> dict[int, Address]: ...

    def advertise(self, node_id: int, address: Address) -> None: ...


class _Controllers(Protocol):
    @property
    def brokers(self) -> _Brokers: ...

    @property
    def addresses(self) -> dict[int, tuple[str, int]]: ...

    def advertise(self, node_id: int, host: str, port: int) -> None: ...


class QuorumNetwork:
    """Every node advertises an address of a proxy; there the links between nodes are cut.

    faults: those in messages, of clients and between nodes.
    """

    def __init__(self) -> None:
        self.faults = MessageFaults()
        self._network: FaultyNetwork | None = None
        self._ids: frozenset[int] = frozenset()

    async def start(self, quorum: _Controllers) -> None:
        """Listen before every node, and have the nodes advertise that. Before any of them runs."""
        nodes = []
        for node_id, (host, port) in quorum.addresses.items():
            node = _in_front_of(node_id, Address(host, port), is_controller=True)
            quorum.advertise(node_id, LOCAL, node.advertised.port)
            nodes.append(node)
        for node_id, address in quorum.brokers.listen_addresses().items():
            node = _in_front_of(node_id, address, is_controller=False)
            quorum.brokers.advertise(node_id, node.advertised)
            nodes.append(node)
        self._ids = frozenset(node.node_id for node in nodes)
        topology = FaultTopology(nodes=tuple(nodes))
        network = FaultyNetwork(topology, lambda: None, [self.faults.filter])
        await network.__aenter__()
        self._network = network

    def cut(self, kind: FaultKind, group: Iterable[int], others: Iterable[int]) -> None:
        """Begin a fault between two groups; no others are all others. Raises InvalidValue."""
        chosen, rest = frozenset(group), frozenset(others)
        if unknown := (chosen | rest) - self._ids:
            ids = ", ".join(map(str, sorted(unknown)))
            raise InvalidValue(f"the network has no node {ids}: it has {sorted(self._ids)}")
        if not chosen or chosen & rest:
            raise InvalidValue("a partition is between two groups of different nodes")
        if self._network is None:
            raise InvalidValue("the quorum does not run yet: start it first")
        nodes, far = tuple(sorted(chosen)), tuple(sorted(rest))
        self._network.begin(FaultEvent(at=0, lasts=0, kind=kind, nodes=nodes, others=far))

    def heal(self) -> None:
        """End all faults."""
        if self._network is not None:
            self._network.heal()

    async def stop(self) -> None:
        """Close the proxies."""
        if self._network is not None:
            network, self._network = self._network, None
            await network.__aexit__(None, None, None)


def _in_front_of(node_id: int, upstream: Address, *, is_controller: bool) -> FaultNode:
    return FaultNode(
        node_id=node_id,
        is_controller=is_controller,
        advertised=Address(LOCAL, free_port()),
        upstream=upstream,
    )
