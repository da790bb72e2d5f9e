"""A listener of the proxy for every node of the cluster: the nodes that clients see.

A node has a listener of its own, since ApiVersions, and so what a client may ask, belongs to a
connection.

The other controllers are standbys of each controller's listener, so that it still answers when its
node is gone. A broker's listener leads to the controllers, unless a listener was given for it.

Whoever may register a node writes its address into the metadata. So only allowed addresses count,
and what passes at the listeners of these nodes is guarded (`data_path.guard`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from kwire.errors import LocalError
from kwire.image import MetadataImage
from kwire.image.cluster import ClusterImage
from kwire.net.address import Address
from kwire.proxy.data_path.given_addresses import CannotKeep, GivenAddress, GivenAddresses
from kwire.proxy.data_path.listener import Listener, ListenerGuard
from kwire.proxy.data_path.server import Proxy
from kwire.proxy.flows.flow import NoticeKind
from kwire.proxy.flows.reports import ReportedTexts
from kwire.proxy.flows.text import printable

logger = logging.getLogger(__name__)

LIMIT = 1000
"""Most listeners that are open at once; controllers come first."""


class VirtualNodes:
    """Opens the listeners that were given, and more for other nodes in the metadata.

    refusal: returns why an address in the metadata does not count, "" if it does. advertised_host:
    the host that clients are given, in place of the one that listeners listen at. given: keeps the
    addresses, so that a node has the same one after a restart of the proxy.
    """

    def __init__(
        self,
        first: Sequence[Listener],
        refusal: Callable[[Address], str],
        advertised_host: str | None = None,
        given: GivenAddresses | None = None,
    ) -> None:
        self._first = tuple(first)
        self._refusal = refusal
        self._advertised_host = advertised_host
        self._given = given or GivenAddresses()
        self._addresses: dict[int, Address] = {}
        self._opened: dict[int, Listener] = {}
        self._upstreams = {
            listener.node_id: listener.upstream
            for listener in first
            if listener.node_id is not None
        }
        self._followed: ClusterImage | None = None
        self._failed: set[int] = set()
        self._reported = ReportedTexts(LIMIT)

    @property
    def addresses(self) -> Mapping[int, Address]:
        """The addresses that clients are given, by node id."""
        return self._addresses

    def controllers(self, image: MetadataImage) -> frozenset[int]:
        """Return the nodes with a listener that are controllers, whether or not brokers as well."""
        return frozenset(id for id in self._addresses if _is_controller(id, image))

    def upstream(self, node_id: int, image: MetadataImage) -> Address | None:
        """Return the address of a node itself: from its listener, else from its registration.

        None if it has none that is allowed.
        """
        given = self._upstreams.get(node_id)
        registered = _registered_address(node_id, image)
        if given is not None or registered is None or self._refusal(registered):
            return given
        return registered

    async def start(self, proxy: Proxy, image: MetadataImage) -> None:
        """Open the listeners that were given, and those of the image.

        Raises CannotListen.
        """
        controllers = [
            listener.upstream for listener in self._first if _is_controller(listener.node_id, image)
        ]
        for listener in self._first:
            standbys = tuple(address for address in controllers if address != listener.upstream)
            at = await proxy.listen(replace(listener, standbys=standbys))
            if listener.node_id is not None:
                self._addresses[listener.node_id] = self._advertised(listener, at.port)
        await self.follow(proxy, image)

    async def follow(self, proxy: Proxy, image: MetadataImage) -> None:
        """Open a listener for each node of the image that has none yet, and close those of others.

        Nodes that the image names at other addresses than before get new listeners.
        """
        if image.cluster is self._followed:
            return  # most changes of the metadata are of topics
        self._followed = image.cluster
        nodes = _node_ids(image)
        self._failed &= nodes
        for node_id, listener in list(self._opened.items()):
            own = _own_address(node_id, image)
            moved = own is not None and own != listener.upstream and not self._refusal(own)
            if node_id not in nodes or moved:
                del self._opened[node_id], self._addresses[node_id]
                await proxy.unlisten(listener)
        self._report_refused(proxy, image)
        for listener in self._missing(proxy, image):
            assert listener.node_id is not None, "it is for a node of the metadata"
            try:
                await self._open(proxy, listener, listener.node_id)
            except LocalError as error:
                self._failed.add(listener.node_id)
                logger.warning("clients will not see node %d: %s", listener.node_id, error)

    async def _open(self, proxy: Proxy, listener: Listener, node_id: int) -> None:
        """Listen for a node, at the port that it had before if there was one."""
        known = [given.given for given in self._given if given.node_id == node_id]
        former = known[-1] if known else None
        opened, at = await self._given.listen(proxy, listener, former)
        self._opened[node_id] = opened
        address = self._advertised(listener, at.port)
        if former is not None and former != address:
            self._report(
                proxy,
                f"node {node_id} has {address} now, and not {former}, which clients were given",
            )
        given = GivenAddress(given=address, upstream=listener.upstream, node_id=node_id)
        self._given.add(given)
        try:
            await self._given.save()
        except CannotKeep as error:
            self._report(proxy, f"{error}; a restarted proxy does not know what it has given out")
        # Only now it is given to clients: the proxy may be killed at any time.
        self._addresses[node_id] = address

    def _advertised(self, listener: Listener, port: int) -> Address:
        return Address(self._advertised_host or listener.listen.host, port)

    def _missing(self, proxy: Proxy, image: MetadataImage) -> Iterator[Listener]:
        known = self._addresses.keys() | self._failed
        here = Address(self._first[0].listen.host, 0)
        controllers = [self.upstream(id, image) for id in sorted(self.controllers(image))]
        missing = _node_ids(image) - known
        for id in sorted(missing, key=lambda id: (id not in image.cluster.controllers, id)):
            own = self.upstream(id, image) if id in image.cluster.controllers else None
            addresses = dict.fromkeys((own, *controllers))
            targets = [address for address in addresses if address is not None]
            if len(self._addresses) >= LIMIT:
                self._report(proxy, f"clients see {LIMIT} nodes of the cluster and no more")
                return
            if targets:
                first, *standbys = targets
                yield replace(
                    self._first[0],
                    node_id=id,
                    upstream=first,
                    listen=here,
                    standbys=tuple(standbys),
                    guard=ListenerGuard(believed=True),
                )

    def _report_refused(self, proxy: Proxy, image: MetadataImage) -> None:
        """Tell of the nodes whose registered addresses do not count."""
        for id in sorted(_node_ids(image)):
            address = _registered_address(id, image)
            reason = "" if address is None else self._refusal(address)
            if address is not None and reason and id not in self._upstreams:
                shown = Address(printable(address.host, 100), address.port)
                self._report(proxy, f"no connection to node {id} at {shown}: {reason}")

    def _report(self, proxy: Proxy, text: str) -> None:
        if self._reported.is_first(text):
            proxy.tell_about(self._first[0], NoticeKind.ADDRESS_REFUSED, text)


def _node_ids(image: MetadataImage) -> set[int]:
    return {*image.cluster.controllers, *image.cluster.brokers}


def _is_controller(node_id: int | None, image: MetadataImage) -> bool:
    """True for a registered controller, and for a node that is no broker.

    Controllers register since Kafka 3.7 (KIP-919).
    """
    return node_id in image.cluster.controllers or node_id not in image.cluster.brokers


def _own_address(node_id: int, image: MetadataImage) -> Address | None:
    """Return the registered address of a controller; a broker's listener leads elsewhere."""
    return _registered_address(node_id, image) if node_id in image.cluster.controllers else None


def _registered_address(node_id: int, image: MetadataImage) -> Address | None:
    cluster = image.cluster
    for node in (cluster.controllers.get(node_id), cluster.brokers.get(node_id)):
        if node is not None and node.endpoints:
            return Address(node.endpoints[0].host, node.endpoints[0].port)
    return None
