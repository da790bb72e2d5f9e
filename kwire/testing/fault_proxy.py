"""A proxy in front of a cluster, for a test: its clients are given the proxy's addresses.

with FaultProxy("localhost:9092") as proxy:
    proxy.on("Produce").close().call(2)
    run_my_client(proxy.bootstrap_servers)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import suppress
from typing import Self

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
from kwire.testing.fault_filter import logger
from kwire.testing.message_faults import MessageFaults

SILENT = (NoticeKind.OPENED, NoticeKind.CLOSED)
"""Notices that are no news to a test."""


class FaultProxy(MessageFaults):
    """A proxy in front of every node of a cluster, in a thread of its own, while the context lasts.

    bootstrap: `host:port,...` of brokers or controllers; the other nodes are found in what these
    answer. listen: the host of the proxy's addresses; advertised_host: what clients are told in its
    place, for clients in containers. Listens at free ports. Clients log in through it with SASL; a
    cluster with TLS needs `kwire proxy`.
    """

    def __init__(
        self, bootstrap: str, *, listen: str = "127.0.0.1", advertised_host: str | None = None
    ) -> None:
        super().__init__()
        self._upstream = [Address.parse(part) for part in bootstrap.split(",") if part.strip()]
        if not self._upstream:
            raise InvalidValue("a proxy needs an address to be in front of: give host:port")
        self._listen = listen
        self._advertised_host = advertised_host
        self._opened: Future[str] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="kwire-proxy", daemon=True)

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,...` of the proxy, for clients. Raises InvalidValue before `start`."""
        if not self._opened.done():
            raise InvalidValue("the proxy does not listen yet: start it, or use it in a `with`")
        return self._opened.result()

    def start(self) -> None:
        """Listen. Raises CannotListen, InvalidValue if it was started before."""
        if self._thread.ident is not None:
            raise InvalidValue("a proxy is started once: make a new one")
        self._thread.start()
        self._opened.result()

    def close(self) -> None:
        """Close all connections and stop listening. A second call does nothing."""
        if self._loop is not None and self._ended is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._ended.set)
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._opened.done():
                raise
            self._opened.set_exception(error)

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        book = AddressBook(self._advertised_host)
        listen = Address(self._listen, 0)
        listeners = [
            Listener(node_id=None, upstream=address, listen=listen) for address in self._upstream
        ]
        filters = Filters([self.filter, RewriteEndpoints(book)])
        proxy = Proxy(listeners, wants=pass_everything, filters=filters, sinks=[_log])
        async with proxy, NewListeners(proxy, book, _AllNodes()):
            addresses = map(book.advertised, proxy.addresses.values())
            self._opened.set_result(",".join(map(str, addresses)))
            await self._ended.wait()


class _AllNodes(AllowedNodes):
    """Allows all addresses: the cluster of a test is trusted."""

    def refusal(self, address: Address, configured: Iterable[Address]) -> str:
        """Refuse nothing."""
        return ""


def _log(event: Event) -> None:
    """Log what a test should know; pytest shows it with a failure."""
    if isinstance(event, Notice) and event.kind not in SILENT:
        logger.warning("%s", event.text)
