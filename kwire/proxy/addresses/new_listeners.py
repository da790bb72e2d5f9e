"""Opens listeners of the proxy in front of nodes that passing messages name."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Self

from kwire.net.address import Address
from kwire.net.tasks import cancel_and_wait
from kwire.proxy.addresses.address_book import AddressBook, OnListener
from kwire.proxy.data_path.listener import Listener
from kwire.proxy.data_path.server import CannotListen, Proxy

LIMIT = 1000
"""Most listeners that are opened for addresses in messages: a peer may send any number of them."""


class NewListeners:
    """Fills an address book with the proxy's listeners, and opens those that it requests.

    New listeners are like the first of the proxy's: at the same host, with the same TLS.
    """

    def __init__(self, proxy: Proxy, book: AddressBook) -> None:
        self._proxy = proxy
        self._book = book
        self._waiting: dict[Address, list[OnListener]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._opened = 0

    async def __aenter__(self) -> Self:
        for listener, address in self._proxy.addresses.items():
            self._book.add(listener.upstream, address)
        self._book.open_with(self._request)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await cancel_and_wait(self._tasks)

    async def listen(self, listener: Listener) -> Address:
        """Open a listener; return the address that others are given. Raises CannotListen."""
        return self._book.add(listener.upstream, await self._proxy.listen(listener))

    def _request(self, node_id: int | None, address: Address, on_listener: OnListener) -> None:
        """Open a listener once, however many messages wait for it."""
        if address in self._waiting:
            self._waiting[address].append(on_listener)
        elif self._opened >= LIMIT:
            on_listener(None)
        else:
            self._opened += 1
            self._waiting[address] = [on_listener]
            task = asyncio.get_running_loop().create_task(self._open(node_id, address))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _open(self, node_id: int | None, address: Address) -> None:
        like = next(iter(self._proxy.addresses), Listener(node_id=None, upstream=address))
        here = Address(like.listen.host, 0)
        listener = replace(like, node_id=node_id, upstream=address, listen=here, standbys=())
        try:
            proxied = await self.listen(listener)
        except CannotListen:
            proxied = None
        for on_listener in self._waiting.pop(address):
            on_listener(proxied)
