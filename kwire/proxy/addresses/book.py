"""Which address of the proxy stands for which node's."""

from __future__ import annotations

from collections.abc import Callable

from kwire.net.address import Address

Found = Callable[[Address | None], None]
"""Takes the proxy's address, or None where there can be none."""

Opener = Callable[[int | None, Address, Found], None]
"""Puts the proxy in front of a node id and address, and tells where."""


class AddressBook:
    """The nodes' addresses and the proxy's, both ways.

    advertised_host: what others are told in place of the host that a listener listens at, such as
    0.0.0.0.
    """

    def __init__(self, advertised_host: str | None = None) -> None:
        self._advertised_host = advertised_host
        self._proxied: dict[Address, Address] = {}
        self._real: dict[Address, Address] = {}
        self._opener: Opener | None = None
        self._waiting: list[tuple[int | None, Address, Found]] = []

    def add(self, node: Address, listening: Address) -> Address:
        """The proxy listens there in front of a node; what others are told."""
        told = Address(self._advertised_host or listening.host, listening.port)
        self._proxied[_key(node)] = told
        self._real[_key(told)] = node
        return told

    def proxied(self, address: Address) -> Address | None:
        """The proxy's address for a node's; its own stays. None for what is not in the book."""
        key = _key(address)
        return address if key in self._real else self._proxied.get(key)

    def real(self, address: Address) -> Address:
        """The node's address for the proxy's; any other stays."""
        return self._real.get(_key(address), address)

    def attach(self, opener: Opener) -> None:
        """From now on this opens listeners; those that were sought before are opened now."""
        self._opener = opener
        waiting, self._waiting = self._waiting, []
        for node_id, address, found in waiting:
            self.seek(node_id, address, found)

    def seek(self, node_id: int | None, address: Address, found: Found) -> None:
        """Call `found` with the proxy's address, once there is a listener in front of the node."""
        known = self.proxied(address)
        if known is not None:
            found(known)
        elif self._opener is None:
            self._waiting.append((node_id, address, found))
        else:
            self._opener(node_id, address, found)


def _key(address: Address) -> Address:
    return Address(address.host.lower(), address.port)
