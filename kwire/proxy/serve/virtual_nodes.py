"""A listener of the proxy for every node of the cluster, which is how clients see the node.

Each controller stands by for the others, so that a port goes on when its node is gone. A broker is
an alias of the controllers, unless it was said where it is.
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
"""Most listeners that are opened on the word of the metadata."""


class VirtualNodes:
    """Opens listeners: the first ones as they were given, more as the metadata names nodes.

    advertised_host: what clients are told in place of the host that listeners listen at.
    """

    def __init__(self, first: Sequence[Listener], advertised_host: str | None = None) -> None:
        self._first = tuple(first)
        self._advertised_host = advertised_host
        self._addresses: dict[int, Address] = {}
        self._upstreams = {one.node_id: one.upstream for one in first if one.node_id is not None}
        self._failed: set[int] = set()

    @property
    def addresses(self) -> Mapping[int, Address]:
        """What clients are told, by node id."""
        return self._addresses

    def controllers(self, image: MetadataImage) -> frozenset[int]:
        """Those of the nodes with a listener that are controllers, be they brokers as well."""
        return frozenset(id for id in self._addresses if _is_controller(id, image))

    def upstream(self, node_id: int, image: MetadataImage) -> Address | None:
        """Where a node itself is reached: as it was given, else as it registered."""
        given = self._upstreams.get(node_id)
        return given or _registered(node_id, image)

    async def start(self, proxy: Proxy, image: MetadataImage) -> None:
        """Open the first ones. Raises CannotListen."""
        upstreams = [one.upstream for one in self._first if _is_controller(one.node_id, image)]
        for one in self._first:
            standbys = tuple(other for other in upstreams if other != one.upstream)
            await self._listen(proxy, replace(one, standbys=standbys))
        await self.follow(proxy, image)

    async def follow(self, proxy: Proxy, image: MetadataImage) -> None:
        """Open one for each node that has none yet."""
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
            own = _registered(id, image) if id in image.cluster.controllers else None
            targets = [one for one in dict.fromkeys((own, *controllers)) if one is not None]
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
    """As registered; before controllers did that (Kafka 3.7), whoever is no broker."""
    return node_id in image.cluster.controllers or node_id not in image.cluster.brokers


def _registered(node_id: int, image: MetadataImage) -> Address | None:
    cluster = image.cluster
    for node in (cluster.controllers.get(node_id), cluster.brokers.get(node_id)):
        if node is not None and node.endpoints:
            return Address(node.endpoints[0].host, node.endpoints[0].port)
    return None
