"""The lines of server.properties by which nodes advertise the proxy and find their quorum at it.

advertised.listeners are the addresses that others are given; controllers have it since Kafka 3.9
(KIP-853). controller.quorum.bootstrap.servers, or controller.quorum.voters in a static quorum, is
where the node itself connects first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kwire.errors import InvalidValue
from kwire.logdir.server_properties import storage_properties
from kwire.net.address import Address, cannot_connect, is_wildcard
from kwire.proxy.data_path.listener import Listener
from kwire.text.untrusted import cut_repr, whole_number

ADVERTISED = "advertised.listeners"
BOOTSTRAP = "controller.quorum.bootstrap.servers"
VOTERS = "controller.quorum.voters"

Choose = Callable[[], Address]
"""Returns an address for one more listener of the proxy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxiedNode:
    """A node and the proxy's listeners in front of it.

    listeners: by the name of the node's listener behind each. quorum: the names of controllers'
    listeners. static: True if the quorum has controller.quorum.voters.
    """

    node_id: int
    listeners: Mapping[str, Listener]
    quorum: frozenset[str]
    static: bool

    @property
    def voter(self) -> Address | None:
        """The address at which nodes reach this one as a controller; None for a broker."""
        addresses = [
            listener.listen for name, listener in self.listeners.items() if name in self.quorum
        ]
        return addresses[0] if addresses else None


def proxied_nodes(files: Iterable[Mapping[str, str]], choose: Choose) -> list[ProxiedNode]:
    """Read the nodes' properties, and choose an address of the proxy for each of their listeners.

    Raises InvalidValue if a file is not a node's, or does not give the node's address.
    """
    nodes = [_node(pairs, choose) for pairs in files]
    ids = [node.node_id for node in nodes]
    if twice := sorted({id for id in ids if ids.count(id) > 1}):
        raise InvalidValue(f"two files have node.id {twice[0]}: give each node's file once")
    return nodes


def config_lines(
    node: ProxiedNode, nodes: Sequence[ProxiedNode], *, advertise: bool = True
) -> dict[str, str]:
    """Return the properties to change in a node's file, by name.

    advertise: False if the proxy rewrites addresses: then only the first connection has to lead to
    it. nodes: all nodes; if none is a controller, the quorum's properties stay as they are.
    """
    advertised = [f"{name}://{listener.listen}" for name, listener in node.listeners.items()]
    voters = {other.node_id: other.voter for other in nodes if other.voter is not None}
    lines = {ADVERTISED: ",".join(advertised)} if advertise else {}
    if voters and node.static:
        lines[VOTERS] = ",".join(f"{node_id}@{voter}" for node_id, voter in voters.items())
    elif voters:
        lines[BOOTSTRAP] = ",".join(str(voter) for voter in voters.values())
    return lines


def _node(pairs: Mapping[str, str], choose: Choose) -> ProxiedNode:
    storage = storage_properties(pairs)
    endpoints = _endpoints(pairs.get("listeners", "")) | _endpoints(pairs.get(ADVERTISED, ""))
    if not endpoints:
        raise InvalidValue(f"node {storage.node_id} has no listeners: give its server.properties")
    listeners = {}
    for name, upstream in endpoints.items():
        if not upstream.host or is_wildcard(upstream.host):
            host = upstream.host or "an empty host"
            raise InvalidValue(
                f"listener {name} of node {storage.node_id}: "
                + cannot_connect(host, f"write the node's host into {ADVERTISED}")
            )
        listeners[name] = Listener(node_id=storage.node_id, upstream=upstream, listen=choose())
    names = {name.strip() for name in pairs.get("controller.listener.names", "").split(",")}
    return ProxiedNode(
        node_id=storage.node_id,
        listeners=listeners,
        quorum=frozenset(names),
        static=storage.static_voters,
    )


def _endpoints(text: str) -> dict[str, Address]:
    """Parse `NAME://host:port,...`; the host may be missing. Raises InvalidValue."""
    endpoints = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, separator, address = part.partition("://")
        host, _, digits = address.rpartition(":")
        port = whole_number(digits, bits=16)
        if not separator or port is None:
            raise InvalidValue(f"{cut_repr(part)} is no listener: write NAME://host:port")
        endpoints[name] = Address(host.removeprefix("[").removesuffix("]"), port)
    return endpoints
