"""Listeners for nodes that come up while traffic flows: one each, and none without end."""

import asyncio

import pytest

from kwire.net.address import Address
from kwire.proxy import Listener, Proxy
from kwire.proxy.addresses import AddressBook, NewListeners, new_listeners

FIRST = Listener(node_id=1, upstream=Address("node-1", 9092))


class Seeking:
    """Addresses that messages wait for."""

    def __init__(self, book: AddressBook) -> None:
        self._book = book

    def seek(self, node_id: int, address: Address) -> asyncio.Future[Address | None]:
        future: asyncio.Future[Address | None] = asyncio.get_running_loop().create_future()
        self._book.request_listener(node_id, address, future.set_result)
        return future


async def test_the_listeners_that_are_there_are_in_the_book() -> None:
    book = AddressBook()
    early = Seeking(book).seek(1, Address("NODE-1", 9092))
    async with Proxy([FIRST]) as proxy, NewListeners(proxy, book):
        told = book.proxy_address(Address("node-1", 9092))
        assert told == proxy.addresses[FIRST]
        assert await early == told
        assert book.node_address(told) == FIRST.upstream
        assert len(proxy.addresses) == 1


async def test_a_new_node_gets_one_listener_however_many_wait_for_it() -> None:
    book = AddressBook(advertised_host="proxy.example.org")
    new = Address("node-2", 9092)
    async with Proxy([FIRST]) as proxy, NewListeners(proxy, book):
        seeking = Seeking(book)
        first, second, other = await asyncio.gather(
            seeking.seek(2, new), seeking.seek(2, new), seeking.seek(3, Address("node-3", 9092))
        )
        assert first is not None
        assert (first.host, first) == ("proxy.example.org", second)
        assert other not in (None, first)
        listeners = {one.node_id: (one, at) for one, at in proxy.addresses.items()}
        assert listeners.keys() == {1, 2, 3}
        listener, at = listeners[2]
        assert (listener.upstream, at) == (new, Address("127.0.0.1", first.port))
        assert await seeking.seek(2, new) == first


async def test_at_some_number_no_more_are_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_listeners, "LIMIT", 1)
    book = AddressBook()
    async with Proxy([FIRST]) as proxy, NewListeners(proxy, book):
        seeking = Seeking(book)
        assert await seeking.seek(2, Address("node-2", 9092)) is not None
        assert await seeking.seek(3, Address("node-3", 9092)) is None
        assert len(proxy.addresses) == 2
