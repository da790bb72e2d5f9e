"""Relations between flows: lanes, chains of forwarded requests, and the names of topics' ids."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.messages.registry import api_keys
from kwire.net.address import Address
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.text import printable
from kwire.text.ids import uuid_text

NAMING = api_keys("Metadata", "CreateTopics", "DeleteTopics", "DescribeTopicPartitions")
"""APIs whose answers have names of topics beside their ids."""

FORWARDING = 1.0
"""Seconds by which a forwarded request may be seen outside of the time of the client's own."""


class TraceLanes:
    """The clients and nodes of flows, each with a number."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[bool, str, str], int] = {}

    def client(self, flow: Flow, peer: int | None) -> int:
        """Return the lane of a client: a node's, one of its client id, or of its host."""
        if peer is not None:
            return self._number(True, f"node {peer}", "")
        host = _host(flow.connection.client)
        return self._number(False, printable(flow.client_id or host), host)

    def node(self, flow: Flow) -> int:
        """Return the lane of the node that was asked: by its id, else by its address."""
        node_id = flow.connection.node_id
        name = printable(flow.connection.upstream) if node_id is None else f"node {node_id}"
        return self._number(True, name, "")

    def names(self) -> list[str]:
        """Return the names in the order of the numbers; with the host where two are the same."""
        counts = Counter(name for _, name, _ in self._lanes)
        return [
            name if counts[name] == 1 or not host else f"{name} at {printable(host)}"
            for _, name, host in self._lanes
        ]

    def data(self) -> list[list[Any]]:
        """Return name, and 1 for a node, of each lane."""
        return [
            [name, int(is_node)]
            for name, (is_node, _, _) in zip(self.names(), self._lanes, strict=True)
        ]

    def _number(self, is_node: bool, name: str, host: str) -> int:
        return self._lanes.setdefault((is_node, name, host), len(self._lanes))


def _host(address: str) -> str:
    try:
        return Address.parse(address).host
    except ValueError:
        return address


@dataclass(slots=True)
class Chains:
    """Finds the client's request that is in an Envelope (KIP-590), by client id and correlation."""

    _own: defaultdict[tuple[Any, ...], list[tuple[int, float, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _forwarded: defaultdict[tuple[Any, ...], list[tuple[int, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, index: int, decoded: DecodedFlow) -> None:
        """Take a flow by its index."""
        flow, inner = decoded.flow, decoded.envelope
        if inner is not None:
            self._forwarded[_identity(inner.flow)].append((index, flow.at))
            return
        until = flow.at + (flow.latency or 0)
        self._own[_identity(flow)].append((index, flow.at, until))

    def found(self) -> dict[int, int]:
        """Return the number of the chain, from 1 on, of each flow that is in one."""
        chains: dict[int, int] = {}
        for identity, forwarded in self._forwarded.items():
            for index, begin, until in self._own.get(identity, ()):
                inside = [
                    envelope
                    for envelope, at in forwarded
                    if begin - FORWARDING <= at <= until + FORWARDING
                ]
                if inside:
                    number = chains.get(inside[0], len(chains) + 1)
                    chains |= dict.fromkeys((index, *inside), number)
        return chains


def _identity(flow: Flow) -> tuple[Any, ...]:
    return flow.key, flow.version, flow.correlation_id, flow.client_id


class TopicNames:
    """The names of topics by their ids, as far as answers tell them."""

    def __init__(self) -> None:
        self._names = {uuid_text(METADATA_TOPIC_ID): METADATA_TOPIC}

    def add(self, decoded: DecodedFlow) -> None:
        """Learn from an answer."""
        inner = decoded.envelope or decoded
        if inner.flow.key not in NAMING or inner.response is None:
            return
        body: Any = inner.response.body
        for topic in getattr(body, "topics", None) or getattr(body, "responses", None) or ():
            id, name = getattr(topic, "topic_id", None), getattr(topic, "name", None)
            if isinstance(id, UUID) and id.int and name:
                self._names[uuid_text(id)] = name

    def data(self) -> dict[str, str]:
        """Return names by ids."""
        return self._names
