"""The lines of server.properties by which nodes advertise the proxy, and find their quorum at it.

advertised.listeners tells others where to go; controllers have it since Kafka 3.9 (KIP-853).
controller.quorum.bootstrap.servers, or controller.quorum.voters where the quorum is static, tells
the node itself where to begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kwire.errors import InvalidValue
from kwire.logdir.server_properties import storage_properties
from kwire.net.address import Address
from kwire.proxy.data_path.listener import Listener
from kwire.text.numbers import whole_number

ADVERTISED = "advertised.listeners"
BOOTSTRAP = "controller.quorum.bootstrap.servers"
VOTERS = "controller.quorum.voters"

Choose = Callable[[], Address]
"""Gives an address for one more listener of the proxy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxiedNode:
    """A node and the proxy's listeners in front of it.

    listeners: by the name of the node's own. quorum: those of its names that are controllers'.
    """

    node_id: int
    listeners: Mapping[str, Listener]
    quorum: frozenset[str]
    static: bool

    @property
    def voter(self) -> Address | None:
        """Where other nodes reach it as a controller; None for a broker."""
        found = [one.listen for name, one in self.listeners.items() if name in self.quorum]
        return found[0] if found else None


def proxied(files: Iterable[Mapping[str, str]], choose: Choose) -> list[ProxiedNode]:
    """The nodes whose properties these are, each listener behind an address that is chosen for it.

    Raises InvalidValue where a file is no node's, or does not say where the node is.
    """
    nodes = [_node(pairs, choose) for pairs in files]
    ids = [node.node_id for node in nodes]
    if twice := sorted({one for one in ids if ids.count(one) > 1}):
        raise InvalidValue(f"two files have node.id {twice[0]}: give each node's file once")
    return nodes


def config_lines(
    node: ProxiedNode, nodes: Sequence[ProxiedNode], *, advertise: bool = True
) -> dict[str, str]:
    """What the properties of a node are to say instead.

    advertise: False where the proxy rewrites addresses, and only the bootstrap has to lead to it.
    nodes: all of them; without controllers among them the way to the quorum stays as it is.
    """
    told = [f"{name}://{one.listen}" for name, one in node.listeners.items()]
    voters = {one.node_id: one.voter for one in nodes if one.voter is not None}
    lines = {ADVERTISED: ",".join(told)} if advertise else {}
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
        if upstream.host in ("", "0.0.0.0", "::"):
            raise InvalidValue(
                f"node {storage.node_id} does not say at which host others reach {name}:"
                f" write it into {ADVERTISED}"
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
    """`NAME://host:port,...`; the host may be missing."""
    found = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        name, separator, address = one.partition("://")
        host, _, digits = address.rpartition(":")
        port = whole_number(digits, bits=16)
        if not separator or port is None:
            raise InvalidValue(f"{one!r} is no listener: write NAME://host:port")
        found[name] = Address(host.removeprefix("[").removesuffix("]"), port)
    return found
