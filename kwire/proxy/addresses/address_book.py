"""The pairs of a node's address and the proxy's address in front of it.

An address of the proxy's may be of an earlier run, by which another node had its port. Such an
address is known by its host, and which node it stands for by the id beside it in the message.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from kwire.net.address import Address, address_key, local_host
from kwire.proxy.data_path.given_addresses import GivenAddress
from kwire.proxy.flows.flow import Flow, Notice
from kwire.proxy.flows.node_addresses import NodeRole

FORMER = 1000
"""Most addresses of closed listeners that are remembered, to be used again for the same nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAddress:
    """An address of a node in a message. node_id: None if the message does not name the node.

    listener_name, role: of the node's listener, "" if the message does not name it. by_node: True
    in responses, which nodes send. Clients send requests, so an address there is believed only when
    a node has accepted the request. flow: of the message.
    """

    address: Address
    node_id: int | None
    by_node: bool
    flow: Flow
    listener_name: str = ""
    role: NodeRole = NodeRole.BROKER


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


@dataclass(slots=True)
class _Node:
    """The id and the listener's name of a node's address, as far as they are known."""

    node_id: int | None = None
    listener_name: str = ""

    def may_be(self, named: MessageAddress, *, is_sure: bool) -> bool:
        """True for the node's id, unless the message names another of its listeners.

        is_sure: True if nothing but the proxy can have been at the address. A voter that is down
        may have been there otherwise, and a node with both roles has two listeners.
        """
        names = {self.listener_name, named.listener_name} - {""}
        is_same = named.node_id is not None and self.node_id == named.node_id and len(names) < 2
        known = is_sure or named.role is NodeRole.BROKER or self.listener_name
        return is_same and bool(known)


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
        self._nodes: dict[Address, _Node] = {}
        self._unbelieved: set[Address] = set()
        self._opener: ListenerOpener | None = None
        self._waiting: list[tuple[MessageAddress, OnListener]] = []
        self.named_by_nodes: set[Address] = set()

    def advertised(self, listening: Address) -> Address:
        """Return the address that others are given for a listener."""
        return Address(self._advertised_host or listening.host, listening.port)

    def add(
        self,
        node: Address,
        listening: Address,
        *,
        node_id: int | None = None,
        listener_name: str = "",
        believed: bool = True,
    ) -> Address:
        """Add a listener in front of a node; return the address that others are given for it.

        believed: False as long as only a request has named the node.
        """
        advertised = self.advertised(listening)
        self._former.pop(address_key(node), None)
        self._nodes[address_key(node)] = _Node(node_id, listener_name)
        self._proxy_addresses[address_key(node)] = advertised
        self._node_addresses[address_key(advertised)] = node
        self._unbelieved.discard(address_key(node))
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
        self.add_former(node, advertised)

    def restore(self, former: GivenAddress) -> None:
        """Take up an address that an earlier run gave out: a listener may be opened there again."""
        key = address_key(former.upstream)
        self._nodes[key] = _Node(former.node_id, former.listener_name)
        if not former.believed:
            self._unbelieved.add(key)
        self.add_former(former.upstream, former.given)

    @property
    def open(self) -> Mapping[Address, Address]:
        """The listeners in front of nodes, as others are given them, by `address_key` of a node."""
        return self._proxy_addresses

    def add_former(self, node: Address, given: Address) -> None:
        """Add an address that was given for a node and has no listener now."""
        self._node_addresses[address_key(given)] = node
        self._former[address_key(node)] = given
        if len(self._former) > FORMER:
            oldest, given = self._former.popitem(last=False)
            self._node_addresses.pop(address_key(given), None)
            self._nodes.pop(oldest, None)

    def former(self, node: Address) -> Address | None:
        """Return the address of the listener that this node had, if it has been closed."""
        return self._former.get(address_key(node))

    def proxy_address(self, address: Address) -> Address | None:
        """Return the proxy's address for a node's, None if none is open or it is not believed.

        For an address of the proxy itself that is the same one, unless another run gave it out.
        """
        node = address_key(self.node_address(address))
        proxied = None if node in self._unbelieved else self._proxy_addresses.get(node)
        is_same = proxied is not None and address_key(proxied) == address_key(address)
        return address if is_same else proxied

    def look_up(self, named: MessageAddress) -> Address | None:
        """Return the proxy's address for one in a message; remember it if a node names it."""
        proxied = self.proxy_address(named.address)
        if proxied is None or not named.by_node:
            return proxied
        key = address_key(self.node_address(named.address))
        node = self._nodes.setdefault(key, _Node())
        # The proxy's own address, but of another node: an earlier run gave it out for this one.
        ids = {node.node_id, named.node_id} - {None}
        if len(ids) == 2 and self.is_given(named.address):
            return self.of_node(named) or proxied
        self.named_by_nodes.add(key)
        node.node_id = named.node_id if node.node_id is None else node.node_id
        node.listener_name = named.listener_name or node.listener_name
        return proxied

    def of_node(self, named: MessageAddress, *, is_sure: bool = True) -> Address | None:
        """Return the proxy's address of the node that a message names by id, whatever its address.

        None if it has no open listener, or several that it may be. is_sure: False if the address
        may be one of the node's own.
        """
        found = [
            proxied
            for node, proxied in self._proxy_addresses.items()
            if node not in self._unbelieved and self._nodes[node].may_be(named, is_sure=is_sure)
        ]
        return found[0] if len(found) == 1 else None

    def is_given(self, address: Address) -> bool:
        """Return True for an address of the proxy's own."""
        return address_key(address) in self._node_addresses

    def is_own_host(self, host: str) -> bool:
        """Return True for the host of the proxy's addresses, at which there may be nodes, too."""
        return local_host(host) in {local_host(given.host) for given in self._node_addresses}

    @property
    def given(self) -> Iterator[GivenAddress]:
        """The addresses that have listeners, with all that is known of their nodes."""
        for key, given in self._proxy_addresses.items():
            node = self._nodes[key]
            yield GivenAddress(
                given=given,
                upstream=self._node_addresses.get(address_key(given), key),
                node_id=node.node_id,
                listener_name=node.listener_name,
                believed=key not in self._unbelieved,
            )

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
