"""Notices nodes that others are told to reach without the proxy.

Whoever hears such an address connects there directly, and nothing that the proxy does has an effect
on that. So addresses in passing messages (`table`, and the records of the metadata log) are held
against the proxy's own. Nodes count as the proxy's business where traffic of their role has passed:
in front of controllers alone, brokers may be reached as they like, and the other way round.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address

from kwire.codec.declaration import Message, Request
from kwire.errors import KwireError
from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a60_describe_cluster import DescribeClusterResponse
from kwire.messages.registry import request
from kwire.net.address import Address
from kwire.proxy.addresses.log_records import METADATA_TOPIC, METADATA_TOPIC_ID, read_log
from kwire.proxy.addresses.places import Place, carries_at, places
from kwire.proxy.addresses.table import Role
from kwire.proxy.data_path.listener import Listener
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Deed, Kind, Notice
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.peers import node_of_request

LOG_LIMIT = 64 * 1024
"""Bytes of the metadata log in a response from which on its records are not looked at."""

FREQUENT = frozenset({0, 1, 78, 79})
"""Produce, Fetch, ShareFetch, ShareAcknowledge, which seldom have an address."""

LOOKED = 1000
"""FREQUENT flows that are copied for their addresses, where nobody else wants them."""

_OWN = frozenset({Deed.ANSWERED, Deed.CHANGED, Deed.ROUTED, Deed.SIMULATED, Deed.DROPPED})
_ADVICE = (
    "let the nodes advertise the proxy (`kwire proxy-config` writes the lines), or rewrite what"
    " they tell (--rewrite-endpoints, in a file rewrite_endpoints: true); see docs/addresses.md"
)

Node = tuple[Role, int | None, Address]


class BypassWatch:
    """Sees decoded flows, and tells of each node once.

    addresses: where the proxy listens now. told: takes notices. bypassed: what was told of.
    """

    def __init__(
        self,
        addresses: Callable[[], Mapping[Listener, Address]],
        told: Callable[[Notice], None],
    ) -> None:
        self._addresses = addresses
        self._told = told
        self._roles: set[Role] = set()
        self._named: dict[Node, str] = {}
        self._looked = 0
        self.bypassed: set[Node] = set()

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """True for frames that have to be copied for this."""
        if not carries_at(key, version, direction):
            return False
        self._looked += key in FREQUENT
        return key not in FREQUENT or self._looked <= LOOKED

    def see(self, seen: DecodedFlow | Notice) -> None:
        """Look at a flow, and at what is in its envelope."""
        if isinstance(seen, Notice):
            return
        flow = seen.flow
        if role := _role_of(seen):
            self._roles.add(role)
        if not _OWN & set(flow.deeds):
            for message in (seen.request, seen.response):
                if message is not None and isinstance(message.body, Message):
                    self._look(message.body, flow.api)
        if seen.envelope is not None:
            self.see(seen.envelope)
        news = [node for node in self._named if node[0] in self._roles]
        if news:
            self._tell(news, seen)

    def _look(self, message: Message, api: str) -> None:
        """Remember nodes of which no address in a message is the proxy's."""
        by_node: dict[tuple[Role, int | None], list[Address]] = defaultdict(list)
        own = node_of_request(message) if isinstance(message, Request) else None
        for role, place in _placed(message):
            by_node[role, own if place.node_id is None else place.node_id].append(place.address)
        for (role, node_id), found in by_node.items():
            if any(map(self._is_behind, found)):
                continue
            node = role, node_id, found[0]
            if node not in self.bypassed:
                self._named.setdefault(node, api)

    def _is_behind(self, address: Address) -> bool:
        """True if who connects there meets the proxy, as far as the addresses tell.

        A name that stands at a port of the proxy's is believed to be the proxy's host, unless it is
        what the proxy itself connects to.
        """
        host = _met(address.host)
        for listener, here in self._addresses().items():
            upstream = listener.upstream
            if address.port != here.port:
                continue
            if host in (_met(here.host), _met(listener.listen.host)):
                return True
            is_node = (host, address.port) == (_met(upstream.host), upstream.port)
            anywhere = here.host in ("0.0.0.0", "::")
            if not is_node and (anywhere or not _is_ip(host)):
                return True
        return False

    def _tell(self, nodes: list[Node], seen: DecodedFlow) -> None:
        apis = sorted({self._named.pop(node) for node in nodes})
        self.bypassed.update(nodes)
        names = ", ".join(_name(node) for node in nodes)
        are = "is" if len(nodes) == 1 else "are"
        text = (
            f"{names} {are} not behind the proxy, and who hears that in {', '.join(apis)} connects"
            f" there without it: {_ADVICE}"
        )
        flow = seen.flow
        notice = Notice(connection=flow.connection, at=flow.at, kind=Kind.BYPASSED, text=text)
        self._told(notice)


def _placed(message: Message) -> Iterator[tuple[Role, Place]]:
    """The addresses in a message, and in the metadata log that it brings, with their roles."""
    for place in places(message):
        role = place.field.role
        if isinstance(message, DescribeClusterResponse) and message.endpoint_type == 2:
            role = Role.CONTROLLER
        if isinstance(message, FetchResponse) and _is_log(message):
            role = Role.CONTROLLER
        yield role, place
    if isinstance(message, FetchResponse):
        for topic in message.responses:
            if topic.topic == METADATA_TOPIC or topic.topic_id == METADATA_TOPIC_ID:
                for partition in topic.partitions:
                    yield from _in_log(partition.records or b"")


def _in_log(data: bytes) -> Iterator[tuple[Role, Place]]:
    if len(data) > LOG_LIMIT:
        return
    try:
        batches, _ = read_log(data)
    except KwireError:
        return
    for batch in batches:
        for message in batch.messages:
            for place in places(message):
                yield place.field.role, place


def _is_log(message: FetchResponse) -> bool:
    topics = {(one.topic, one.topic_id) for one in message.responses}
    return any(name == METADATA_TOPIC or id == METADATA_TOPIC_ID for name, id in topics)


def _role_of(seen: DecodedFlow) -> Role | None:
    """The role of the node that was asked, where the request tells it."""
    flow = seen.flow
    asked = seen.request_as(FetchRequest)
    if asked is not None:
        topics = {(one.topic, one.topic_id) for one in asked.topics}
        if any(name == METADATA_TOPIC or id == METADATA_TOPIC_ID for name, id in topics):
            return Role.CONTROLLER
        return Role.BROKER if topics else None
    answer = seen.response_as(DescribeClusterResponse)
    if answer is not None:
        return Role.CONTROLLER if answer.endpoint_type == 2 else Role.BROKER
    try:
        kinds = request(flow.key).listeners
    except KwireError:
        return None
    if "controller" in kinds:
        return Role.CONTROLLER if kinds == {"controller"} else None
    return Role.BROKER if kinds else None


def _name(node: Node) -> str:
    _, node_id, address = node
    return f"a node at {address}" if node_id is None else f"node {node_id} at {address}"


def _met(host: str) -> str:
    return "127.0.0.1" if host.lower() == "localhost" else host.lower()


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
