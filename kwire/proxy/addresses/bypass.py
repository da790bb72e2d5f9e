"""Notices about nodes whose own addresses, not the proxy's, appear in passing messages.

A client that gets such an address connects to the node directly, without the proxy. So addresses in
passing messages (`flows.node_addresses`, and the records of the metadata log) are compared with the
proxy's own. A node counts if traffic with a node of its role has passed: a proxy in front of
controllers alone gives no notice about brokers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address

from kwire.batches import Budget
from kwire.codec.declaration import Message, Request
from kwire.errors import KwireError
from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a60_describe_cluster import DescribeClusterResponse
from kwire.messages.endpoint_type import EndpointType
from kwire.messages.metadata_topic import is_metadata_topic, metadata_logs
from kwire.messages.registry import api_keys, request
from kwire.net.address import Address, is_wildcard, local_host
from kwire.proxy.addresses.log_records import read_log
from kwire.proxy.data_path.listener import Listener
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Effect, Flow, Notice, NoticeKind
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.node_addresses import (
    NodeAddress,
    NodeRole,
    frame_may_carry_address,
    node_addresses,
)
from kwire.proxy.flows.peers import node_of_request

LOG_LIMIT = 64 * 1024
"""Bytes of the metadata log in a response, also unpacked, from which on nothing is decoded here.

A node that starts reads the whole log; the same nodes are named in its later, shorter responses.
"""

FREQUENT = api_keys("Produce", "Fetch", "ShareFetch", "ShareAcknowledge")
"""APIs that make up most of the traffic and seldom carry an address."""

FREQUENT_LIMIT = 1000
"""FREQUENT flows whose copies are looked at: copies cost the data path."""

_FROM_PROXY = frozenset(
    {Effect.ANSWERED, Effect.CHANGED, Effect.ROUTED, Effect.SIMULATED, Effect.DROPPED}
)
_ADVICE = (
    "let the nodes advertise the proxy (`kwire proxy-config` writes the lines), or rewrite"
    " the addresses they send (--rewrite-endpoints, in a file rewrite_endpoints: true);"
    " see docs/debuggers/addresses.md"
)

NamedNode = tuple[NodeRole, int | None, Address]
"""The role, id and address of a node, as a message gives them."""


class BypassWatch:
    """Looks for addresses in decoded flows, and gives one notice for each node.

    addresses: the proxy's listeners and where they listen now. notify: takes the notices.
    wants_changed: is called when `wants` answers otherwise from now on. bypassed: the nodes that a
    notice was given for.
    """

    def __init__(
        self,
        addresses: Callable[[], Mapping[Listener, Address]],
        notify: Callable[[Notice], None],
        wants_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._addresses = addresses
        self._notify = notify
        self._wants_changed = wants_changed
        self._roles: set[NodeRole] = set()
        self._named: dict[NamedNode, str] = {}
        self._frequent = 0
        self.bypassed: set[NamedNode] = set()

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """True for frames that have to be copied for their addresses."""
        if key in FREQUENT and self._frequent >= FREQUENT_LIMIT:
            return False
        return frame_may_carry_address(key, version, direction)

    def see(self, seen: DecodedFlow | Notice) -> None:
        """Check the addresses of a flow, and of the request and response in its envelope."""
        if isinstance(seen, Notice):
            return
        flow = seen.flow
        if flow.key in FREQUENT:
            self._count(flow)
        if role := _role_of(seen):
            self._roles.add(role)
        if not _FROM_PROXY & set(flow.effects):
            for message in (seen.request, seen.response):
                if message is not None and isinstance(message.body, Message):
                    self._check(message.body, flow.api)
        if seen.envelope is not None:
            self.see(seen.envelope)
        # A proxy in front of controllers passes registrations that name brokers, and none of its
        # clients connects to those: nodes of a role wait until its traffic is seen (decision 35).
        news = [node for node in self._named if node[0] in self._roles]
        if news:
            self._tell(news, seen)

    def _count(self, flow: Flow) -> None:
        """Count a flow that was copied, and want no more of them after so many."""
        if flow.request_copy is None and flow.response_copy is None:
            return
        self._frequent += 1
        if self._frequent == FREQUENT_LIMIT:
            self._wants_changed()

    def _check(self, message: Message, api: str) -> None:
        """Remember the nodes that a message gives addresses of, but none of the proxy's."""
        by_node: dict[tuple[NodeRole, int | None], list[Address]] = defaultdict(list)
        sender = node_of_request(message) if isinstance(message, Request) else None
        for role, node_address in _addresses_and_roles(message):
            by_node[role, sender if node_address.node_id is None else node_address.node_id].append(
                node_address.address
            )
        for (role, node_id), addresses in by_node.items():
            # One address is enough: a node may have other listeners as well (decision 35).
            if any(map(self._is_behind, addresses)):
                continue
            node = role, node_id, addresses[0]
            if node not in self.bypassed:
                self._named.setdefault(node, api)

    def _is_behind(self, address: Address) -> bool:
        """True if an address leads to the proxy, as far as can be told without resolving names.

        A name with a port of the proxy's is taken for the proxy's host, unless the proxy itself
        connects to that name and port.
        """
        host = local_host(address.host)
        for listener, here in self._addresses().items():
            upstream = listener.upstream
            if address.port != here.port:
                continue
            if host in (local_host(here.host), local_host(listener.listen.host)):
                return True
            # Names are not resolved: that would ask a name server in the data path, and clients may
            # get other answers than the proxy's host (decision 35).
            is_node = (host, address.port) == (local_host(upstream.host), upstream.port)
            listens_everywhere = is_wildcard(here.host)
            if not is_node and (listens_everywhere or not _is_ip(host)):
                return True
        return False

    def _tell(self, nodes: list[NamedNode], seen: DecodedFlow) -> None:
        apis = sorted({self._named.pop(node) for node in nodes})
        self.bypassed.update(nodes)
        names = ", ".join(_name(node) for node in nodes)
        are = "is" if len(nodes) == 1 else "are"
        text = (
            f"{names} {are} not behind the proxy, and clients that read this in {', '.join(apis)}"
            f" connect without it: {_ADVICE}"
        )
        flow = seen.flow
        notice = Notice(connection=flow.connection, at=flow.at, kind=NoticeKind.BYPASSED, text=text)
        self._notify(notice)


def _addresses_and_roles(message: Message) -> Iterator[tuple[NodeRole, NodeAddress]]:
    """Yield the addresses in a message and in its records of the metadata log, with their roles."""
    for node_address in node_addresses(message):
        role = node_address.field.role
        if (
            isinstance(message, DescribeClusterResponse)
            and message.endpoint_type == EndpointType.CONTROLLER
        ):
            role = NodeRole.CONTROLLER
        if isinstance(message, FetchResponse) and _is_of_metadata_log(message):
            role = NodeRole.CONTROLLER
        yield role, node_address
    if isinstance(message, FetchResponse):
        budget = Budget(size=LOG_LIMIT)
        for log in metadata_logs(message):
            yield from _addresses_in_log(log.records or b"", budget)


def _addresses_in_log(data: bytes, budget: Budget) -> Iterator[tuple[NodeRole, NodeAddress]]:
    if len(data) > LOG_LIMIT:
        return
    try:
        batches, _ = read_log(data, budget)
    except KwireError:
        return
    for batch in batches:
        for message in batch.messages:
            for node_address in node_addresses(message):
                yield node_address.field.role, node_address


def _is_of_metadata_log(message: FetchResponse) -> bool:
    return any(is_metadata_topic(topic.topic, topic.topic_id) for topic in message.responses)


def _role_of(seen: DecodedFlow) -> NodeRole | None:
    """Return the role of the node that a request was sent to, None if both roles take it."""
    flow = seen.flow
    fetch = seen.request_as(FetchRequest)
    if fetch is not None:
        if any(is_metadata_topic(topic.topic, topic.topic_id) for topic in fetch.topics):
            return NodeRole.CONTROLLER
        return NodeRole.BROKER if fetch.topics else None
    response = seen.response_as(DescribeClusterResponse)
    if response is not None:
        return _described_role(response)
    try:
        listeners = request(flow.key).listeners
    except KwireError:
        return None
    if "controller" in listeners:
        return NodeRole.CONTROLLER if listeners == {"controller"} else None
    return NodeRole.BROKER if listeners else None


def _described_role(response: DescribeClusterResponse) -> NodeRole:
    is_controllers = response.endpoint_type == EndpointType.CONTROLLER
    return NodeRole.CONTROLLER if is_controllers else NodeRole.BROKER


def _name(node: NamedNode) -> str:
    _, node_id, address = node
    return f"a node at {address}" if node_id is None else f"node {node_id} at {address}"


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
