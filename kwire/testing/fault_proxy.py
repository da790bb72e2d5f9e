"""A proxy in front of a cluster, for a test: its clients are given the proxy's addresses.

with FaultProxy("localhost:9092") as proxy:
    proxy.on("Produce").close().call(2)
    run_my_client(proxy.bootstrap_servers)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from kwire.errors import InvalidValue
from kwire.net.address import Address
from kwire.proxy.addresses.address_book import AddressBook
from kwire.proxy.addresses.new_listeners import NewListeners
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.data_path.allowed_nodes import AllowedNodes
from kwire.proxy.data_path.listener import Listener
from kwire.proxy.data_path.server import Proxy
from kwire.proxy.filters.chain import Filters
from kwire.proxy.flows.flow import Event, Notice, NoticeKind
from kwire.proxy.flows.interest import pass_everything
from kwire.testing.background_server import BackgroundServer
from kwire.testing.fault_filter import logger
from kwire.testing.message_faults import MessageFaults

SILENT = (NoticeKind.OPENED, NoticeKind.CLOSED)
"""Notices that are no news to a test."""


class FaultProxy(MessageFaults, BackgroundServer):
    """A proxy in front of every node of a cluster, in a thread of its own, while the context lasts.

    bootstrap: `host:port,...` of brokers or controllers; the other nodes are found in what these
    answer. listen: the host of the proxy's addresses; advertised_host: what clients are told in its
    place, for clients in containers. Listens at free ports. Clients log in through it with SASL; a
    cluster with TLS needs `kwire proxy`.
    """

    def __init__(
        self, bootstrap: str, *, listen: str = "127.0.0.1", advertised_host: str | None = None
    ) -> None:
        MessageFaults.__init__(self)
        BackgroundServer.__init__(self, "proxy")
        self._upstream = [Address.parse(part) for part in bootstrap.split(",") if part.strip()]
        if not self._upstream:
            raise InvalidValue("a proxy needs an address to be in front of: give host:port")
        self._listen = listen
        self._advertised_host = advertised_host

    @asynccontextmanager
    async def _serving(self) -> AsyncIterator[str]:
        book = AddressBook(self._advertised_host)
        listen = Address(self._listen, 0)
        listeners = [
            Listener(node_id=None, upstream=address, listen=listen) for address in self._upstream
        ]
        filters = Filters([self.filter, RewriteEndpoints(book)])
        proxy = Proxy(listeners, wants=pass_everything, filters=filters, sinks=[_log])
        async with proxy, NewListeners(proxy, book, _AllNodes()):
            yield ",".join(map(str, map(book.advertised, proxy.addresses.values())))


class _AllNodes(AllowedNodes):
    """Allows all addresses: the cluster of a test is trusted."""

    def refusal(self, address: Address, configured: Iterable[Address]) -> str:
        """Refuse nothing."""
        return ""


def _log(event: Event) -> None:
    """Log what a test should know; pytest shows it with a failure."""
    if isinstance(event, Notice) and event.kind not in SILENT:
        logger.warning("%s", event.text)
