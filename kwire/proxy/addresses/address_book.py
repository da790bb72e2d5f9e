"""The pairs of a node's address and the proxy's address in front of it."""

from __future__ import annotations

from collections.abc import Callable

from kwire.net.address import Address

OnListener = Callable[[Address | None], None]
"""Takes the proxy's address in front of a node, None if no listener could be opened."""

OpenListener = Callable[[int | None, Address, OnListener], None]
"""Opens a listener in front of a node's id and address, and calls back with its address."""


class AddressBook:
    """Looks up the proxy's address for a node's, and the other way round.

    advertised_host: the host in the proxy's addresses, in place of the one its listeners listen at,
    which may be a wildcard such as 0.0.0.0.
    """

    def __init__(self, advertised_host: str | None = None) -> None:
        self._advertised_host = advertised_host
        self._proxy_addresses: dict[Address, Address] = {}
        self._node_addresses: dict[Address, Address] = {}
        self._open_listener: OpenListener | None = None
        self._waiting: list[tuple[int | None, Address, OnListener]] = []

    def add(self, node: Address, listening: Address) -> Address:
        """Add a listener in front of a node; return the address that others are given for it."""
        advertised = Address(self._advertised_host or listening.host, listening.port)
        self._proxy_addresses[_key(node)] = advertised
        self._node_addresses[_key(advertised)] = node
        return advertised

    def proxy_address(self, address: Address) -> Address | None:
        """Return the proxy's address for a node's, None if the book does not have the node.

        An address of the proxy itself is returned as it is: the message has passed a proxy before.
        """
        key = _key(address)
        return address if key in self._node_addresses else self._proxy_addresses.get(key)

    def node_address(self, address: Address) -> Address:
        """Return the node's address for the proxy's; any other address is returned as it is."""
        return self._node_addresses.get(_key(address), address)

    def open_with(self, open_listener: OpenListener) -> None:
        """Set the function that opens listeners, and open those that were requested before."""
        self._open_listener = open_listener
        waiting, self._waiting = self._waiting, []
        for node_id, address, on_listener in waiting:
            self.request_listener(node_id, address, on_listener)

    def request_listener(
        self, node_id: int | None, address: Address, on_listener: OnListener
    ) -> None:
        """Call `on_listener` with the proxy's address once a listener is in front of the node."""
        proxied = self.proxy_address(address)
        if proxied is not None:
            on_listener(proxied)
        elif self._open_listener is None:
            self._waiting.append((node_id, address, on_listener))
        else:
            self._open_listener(node_id, address, on_listener)


def _key(address: Address) -> Address:
    """Return the address with its host in lower case: names of hosts have no case."""
    return Address(address.host.lower(), address.port)
