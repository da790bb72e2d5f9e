"""The listeners that were opened for addresses in messages: which are believed, and how many.

Limits are for one node, and for one connection: a client's requests have room of their own, so that
nobody uses up what the responses of nodes need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kwire.net.address import Address, address_key
from kwire.proxy.addresses.address_book import MessageAddress, OnListener
from kwire.proxy.data_path.given_addresses import GivenAddress
from kwire.proxy.data_path.listener import Listener, ListenerGuard
from kwire.proxy.flows.flow import Flow, Outcome

PER_NODE = 8
"""Most listeners for one node. Nodes have one or two; the others are for their former addresses."""

PER_CONNECTION = 8
"""Most listeners for addresses in requests of one connection that no node has accepted yet."""

LISTENERS = 1000
"""Most listeners that are open at once for addresses in messages."""

SETTLED = 60.0
"""Seconds after a node was named in which its listener is not closed for another one."""

EXPIRY = 3600.0
"""Seconds after a node was named, until its listener is closed if the node is gone."""


@dataclass(eq=False, slots=True, kw_only=True)
class OpenedListener:
    """A listener for an address in messages.

    listener_name: of the node's listener, "" if no message names it. named_at: when a node named it
    last, seconds of a steady clock. requests: flows of requests that named it, before a node did.
    listener, address: None while it is being opened; the address is what others are given. waiting:
    is called when it is open.
    """

    node: Address
    node_id: int | None
    named_at: float
    listener_name: str = ""
    guard: ListenerGuard = field(default_factory=ListenerGuard)
    listener: Listener | None = None
    address: Address | None = None
    requests: set[Flow] = field(default_factory=set)
    waiting: list[OnListener] = field(default_factory=list)

    @property
    def believed(self) -> bool:
        """True if a node has named it, or accepted a request that did."""
        return self.guard.believed


class OpenedListeners:
    """Finds them by the addresses of their nodes. is_used: True while clients are connected."""

    def __init__(self, is_used: Callable[[Listener], bool]) -> None:
        self._is_used = is_used
        self._by_node: dict[Address, OpenedListener] = {}

    def find(self, node: Address) -> OpenedListener | None:
        """Return the listener in front of a node."""
        return self._by_node.get(address_key(node))

    def begin(self, node: Address, named: MessageAddress, now: float) -> OpenedListener:
        """Add a listener that is about to be opened."""
        opened = OpenedListener(
            node=node, node_id=named.node_id, named_at=now, listener_name=named.listener_name
        )
        self._by_node[address_key(node)] = opened
        return opened

    def restore(self, former: GivenAddress, listener: Listener, now: float) -> OpenedListener:
        """Add a listener that an earlier run had."""
        node = former.upstream
        opened = OpenedListener(
            node=node,
            node_id=former.node_id,
            named_at=now,
            listener_name=former.listener_name,
            guard=ListenerGuard(believed=True),
            listener=listener,
        )
        self._by_node[address_key(node)] = opened
        return opened

    def remove(self, opened: OpenedListener) -> None:
        """Forget a listener."""
        del self._by_node[address_key(opened.node)]

    def take_named(self, nodes: set[Address], now: float) -> None:
        """Take note of nodes that were named since the last time; empties the set."""
        for key in nodes & self._by_node.keys():
            self._by_node[key].named_at = now
        nodes.clear()

    def surplus(self, named: MessageAddress, now: float) -> OpenedListener | str | None:
        """Return None if there is room for a listener, else one to close for it, or the reason."""
        if not named.by_node:
            connection = named.flow.connection
            requested = [
                opened
                for opened in self._by_node.values()
                if not opened.believed
                and any(flow.connection is connection for flow in opened.requests)
            ]
            if len(requested) < PER_CONNECTION:
                return None
            return f"{PER_CONNECTION} addresses in requests of this client wait to be accepted"
        return self._surplus_of(named.node_id, now, room_for=1)

    def believe(
        self, opened: OpenedListener, node_id: int | None, now: float
    ) -> OpenedListener | None:
        """Believe a listener's address; return another listener that has to make room for it."""
        opened.named_at = now
        if opened.believed:
            return None
        opened.guard.believed = True
        opened.requests.clear()
        if node_id is not None:
            opened.node_id = node_id
        # A node has accepted it, and may have written the proxy's address into its log: it stays,
        # whatever the limits.
        surplus = self._surplus_of(opened.node_id, now, room_for=0)
        return surplus if isinstance(surplus, OpenedListener) else None

    def unaccepted(self) -> list[OpenedListener]:
        """Return those that no node has named, and whose requests have ended."""
        return [
            opened
            for opened in self._by_node.values()
            if opened.listener is not None
            and not opened.believed
            and all(flow.outcome is not Outcome.PENDING for flow in opened.requests)
        ]

    def expired(self, now: float) -> list[OpenedListener]:
        """Return those that nobody has named or used for EXPIRY."""
        return self._unused(self._by_node.values(), now - EXPIRY)

    def _surplus_of(
        self, node_id: int | None, now: float, *, room_for: int
    ) -> OpenedListener | str | None:
        believed = [opened for opened in self._by_node.values() if opened.believed]
        of_node = [opened for opened in believed if opened.node_id == node_id]
        for opened, limit, reason in (
            (of_node, PER_NODE, f"{PER_NODE} other addresses of this node have listeners"),
            (believed, LISTENERS, f"{LISTENERS} listeners are open for addresses in messages"),
        ):
            if len(opened) + room_for > limit:
                unused = self._unused(opened, now - SETTLED)
                return min(unused, key=lambda opened: opened.named_at) if unused else reason
        return None

    def _unused(self, among: Iterable[OpenedListener], since: float) -> list[OpenedListener]:
        """Return those that are believed, not used, and were last named before a time."""
        return [
            opened
            for opened in among
            if opened.believed
            and opened.named_at < since
            and opened.listener is not None
            and not self._is_used(opened.listener)
        ]
