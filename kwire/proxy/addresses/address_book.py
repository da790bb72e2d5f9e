"""The pairs of a node's address and the proxy's address in front of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kwire.net.address import Address
from kwire.proxy.flows.flow import Flow, Notice

FORMER = 1000
"""Most addresses of closed listeners that are remembered, to be used again for the same nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAddress:
    """An address of a node in a message. node_id: None if the message does not name the node.

    by_node: True in responses, which nodes send. Clients send requests, so an address there is
    believed only when a node has accepted the request. flow: of the message.
    """

    address: Address
    node_id: int | None
    by_node: bool
    flow: Flow


OnListener = Callable[[Address | str], None]
"""Takes the proxy's address in front of a node, or the reason why there is none."""


class ListenerOpener(Protocol):
    """Opens the listeners that an address book requests."""

    def request(self, named: MessageAddress, on_listener: OnListener) -> None:
        """Open a listener in front of an address, and call back."""

    def accepted(self, address: Address) -> None:
        """Take note that a node has accepted a request with this address of the proxy's."""

    def tell(self, notice: Notice) -> None:
        """Show a notice to whoever watches the proxy."""


class AddressBook:
    """Looks up the proxy's address for a node's, and the other way round.

    advertised_host: the host in the proxy's addresses, in place of the one its listeners listen at,
    which may be a wildcard such as 0.0.0.0. named_by_nodes: the nodes' addresses that nodes have
    named since it was emptied. Requests for listeners wait until `open_with` is called.
    """

    def __init__(self, advertised_host: str | None = None) -> None:
        self._advertised_host = advertised_host
        self._proxy_addresses: dict[Address, Address] = {}
        self._node_addresses: dict[Address, Address] = {}
        self._former: OrderedDict[Address, Address] = OrderedDict()
        self._unbelieved: set[Address] = set()
        self._opener: ListenerOpener | None = None
        self._waiting: list[tuple[MessageAddress, OnListener]] = []
        self.named_by_nodes: set[Address] = set()

    def add(self, node: Address, listening: Address, *, believed: bool = True) -> Address:
        """Add a listener in front of a node; return the address that others are given for it.

        believed: False as long as only a request has named the node.
        """
        advertised = Address(self._advertised_host or listening.host, listening.port)
        self._former.pop(address_key(node), None)
        self._proxy_addresses[address_key(node)] = advertised
        self._node_addresses[address_key(advertised)] = node
        if not believed:
            self._unbelieved.add(address_key(node))
        return advertised

    def believe(self, node: Address) -> None:
        """Believe an address: a node has named it."""
        self._unbelieved.discard(address_key(node))

    def remove(self, node: Address) -> None:
        """Remove a listener. Its address stays the node's: logs and clients may have it."""
        advertised = self._proxy_addresses.pop(address_key(node))
        self._unbelieved.discard(address_key(node))
        self._former[address_key(node)] = advertised
        if len(self._former) > FORMER:
            _, oldest = self._former.popitem(last=False)
            self._node_addresses.pop(address_key(oldest), None)

    def former(self, node: Address) -> Address | None:
        """Return the address of the listener that this node had, if it has been closed."""
        return self._former.get(address_key(node))

    def proxy_address(self, address: Address) -> Address | None:
        """Return the proxy's address for a node's, None if none is open or it is not believed.

        An address of the proxy itself is returned as it is: the message has passed a proxy before.
        """
        node = address_key(self.node_address(address))
        proxied = None if node in self._unbelieved else self._proxy_addresses.get(node)
        is_ours = proxied is not None and address_key(address) in self._node_addresses
        return address if is_ours else proxied

    def look_up(self, named: MessageAddress) -> Address | None:
        """Return the proxy's address for one in a message; remember it if a node names it."""
        proxied = self.proxy_address(named.address)
        if proxied is not None and named.by_node:
            self.named_by_nodes.add(address_key(self.node_address(named.address)))
        return proxied

    def node_address(self, address: Address) -> Address:
        """Return the node's address for the proxy's; any other address is returned as it is."""
        return self._node_addresses.get(address_key(address), address)

    def open_with(self, opener: ListenerOpener) -> None:
        """Set what opens listeners, and open those that were requested before."""
        self._opener = opener
        waiting, self._waiting = self._waiting, []
        for named, on_listener in waiting:
            self.request_listener(named, on_listener)

    def request_listener(self, named: MessageAddress, on_listener: OnListener) -> None:
        """Call `on_listener` once a listener is in front of the node, or cannot be."""
        proxied = self.look_up(named)
        if proxied is not None:
            on_listener(proxied)
        elif self._opener is None:
            self._waiting.append((named, on_listener))
        else:
            self._opener.request(named, on_listener)

    def accepted(self, address: Address) -> None:
        """Take note that a node has accepted a request that names the node at this address."""
        if self._opener is not None:
            self._opener.accepted(self.node_address(address))

    def tell(self, notice: Notice) -> None:
        """Show a notice to whoever watches the proxy."""
        if self._opener is not None:
            self._opener.tell(notice)


def address_key(address: Address) -> Address:
    """Return the address with its host in lower case: names of hosts have no case."""
    return Address(address.host.lower(), address.port)
