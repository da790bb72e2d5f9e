"""A listener of the proxy for every node of the cluster: the nodes that clients see.

A node has a listener of its own, since ApiVersions, and so what a client may ask, belongs to a
connection.

The other controllers are standbys of each controller's listener, so that it still answers when its
node is gone. A broker's listener leads to the controllers, unless a listener was given for it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kwire.image import MetadataImage
from kwire.net.address import Address
from kwire.proxy.data_path.listener import Listener
from kwire.proxy.data_path.server import CannotListen, Proxy

logger = logging.getLogger(__name__)

LIMIT = 1000
"""Most listeners that are opened for nodes in the metadata."""


class VirtualNodes:
    """Opens the listeners that were given, and more for other nodes in the metadata.

    advertised_host: the host that clients are given, in place of the one that listeners listen at.
    """

    def __init__(self, first: Sequence[Listener], advertised_host: str | None = None) -> None:
        self._first = tuple(first)
        self._advertised_host = advertised_host
        self._addresses: dict[int, Address] = {}
        self._upstreams = {
            listener.node_id: listener.upstream
            for listener in first
            if listener.node_id is not None
        }
        self._failed: set[int] = set()

    @property
    def addresses(self) -> Mapping[int, Address]:
        """The addresses that clients are given, by node id."""
        return self._addresses

    def controllers(self, image: MetadataImage) -> frozenset[int]:
        """Return the nodes with a listener that are controllers, whether or not brokers as well."""
        return frozenset(id for id in self._addresses if _is_controller(id, image))

    def upstream(self, node_id: int, image: MetadataImage) -> Address | None:
        """Return the address of a node itself: from its listener, else from its registration."""
        return self._upstreams.get(node_id) or _registered_address(node_id, image)

    async def start(self, proxy: Proxy, image: MetadataImage) -> None:
        """Open the listeners that were given, and those of the image. Raises CannotListen."""
        controllers = [
            listener.upstream for listener in self._first if _is_controller(listener.node_id, image)
        ]
        for listener in self._first:
            standbys = tuple(address for address in controllers if address != listener.upstream)
            await self._listen(proxy, replace(listener, standbys=standbys))
        await self.follow(proxy, image)

    async def follow(self, proxy: Proxy, image: MetadataImage) -> None:
        """Open a listener for each node of the image that has none yet."""
        for listener in self._missing(image):
            assert listener.node_id is not None, "it is for a node of the metadata"
            try:
                await self._listen(proxy, listener)
            except CannotListen as error:
                self._failed.add(listener.node_id)
                logger.warning("clients will not see node %d: %s", listener.node_id, error)

    async def _listen(self, proxy: Proxy, listener: Listener) -> None:
        address = await proxy.listen(listener)
        if listener.node_id is not None:
            host = self._advertised_host or listener.listen.host
            self._addresses[listener.node_id] = Address(host, address.port)

    def _missing(self, image: MetadataImage) -> Iterator[Listener]:
        known = self._addresses.keys() | self._failed
        here = Address(self._first[0].listen.host, 0)
        controllers = [self.upstream(id, image) for id in sorted(self.controllers(image))]
        for id in sorted({*image.cluster.controllers, *image.cluster.brokers} - known):
            own = _registered_address(id, image) if id in image.cluster.controllers else None
            addresses = dict.fromkeys((own, *controllers))
            targets = [address for address in addresses if address is not None]
            if targets and len(self._addresses) < LIMIT:
                first, *standbys = targets
                yield replace(
                    self._first[0],
                    node_id=id,
                    upstream=first,
                    listen=here,
                    standbys=tuple(standbys),
                )


def _is_controller(node_id: int | None, image: MetadataImage) -> bool:
    """True for a registered controller, and for a node that is no broker.

    Controllers register since Kafka 3.7 (KIP-919).
    """
    return node_id in image.cluster.controllers or node_id not in image.cluster.brokers


def _registered_address(node_id: int, image: MetadataImage) -> Address | None:
    cluster = image.cluster
    for node in (cluster.controllers.get(node_id), cluster.brokers.get(node_id)):
        if node is not None and node.endpoints:
            return Address(node.endpoints[0].host, node.endpoints[0].port)
    return None
