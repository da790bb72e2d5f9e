"""Relations between flows: lanes, chains of forwarded requests, and the names of topics' ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from kwire.messages.registry import api_keys
from kwire.proxy.flows.chains import Head, carries, head_of_client
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.text import printable
from kwire.text.ids import uuid_text

NAMING = api_keys("Metadata", "CreateTopics", "DeleteTopics", "DescribeTopicPartitions")
"""APIs whose answers have names of topics beside their ids."""


class TraceLanes:
    """The clients and nodes of flows, each with a number."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[bool, str, str], int] = {}

    def client(self, flow: Flow, peer: int | None) -> int:
        """Return the lane of a client: a node's, one of its client id, or of its host."""
        if peer is not None:
            return self._number(True, f"node {peer}", "")
        host = flow.connection.client.rpartition(":")[0]
        return self._number(False, printable(flow.client_id or host), printable(host))

    def node(self, flow: Flow) -> int:
        """Return the lane of the node that was asked: by its id, else by its address."""
        node_id = flow.connection.node_id
        name = printable(flow.connection.upstream) if node_id is None else f"node {node_id}"
        return self._number(True, name, "")

    def named(self) -> list[tuple[str, bool]]:
        """Return name, with the host where two are the same, and if it is a node, of each lane."""
        counts = Counter(name for _, name, _ in self._lanes)
        return [
            (f"{name} at {host}" if host and counts[name] > 1 else name, is_node)
            for is_node, name, host in self._lanes
        ]

    def _number(self, is_node: bool, name: str, host: str) -> int:
        return self._lanes.setdefault((is_node, name, host), len(self._lanes))


class Chains:
    """Finds the client's request that is in an Envelope (KIP-590), by client id and correlation."""

    def __init__(self) -> None:
        self._flows: dict[Head, list[tuple[int, DecodedFlow]]] = {}

    def add(self, index: int, decoded: DecodedFlow) -> None:
        """Take a flow by its index."""
        self._flows.setdefault(head_of_client(decoded), []).append((index, decoded))

    def found(self) -> dict[int, int]:
        """Return the number of the chain, from 1 on, of each flow that is in one."""
        chains: dict[int, int] = {}
        for flows in self._flows.values():
            envelopes = [(index, flow) for index, flow in flows if flow.envelope is not None]
            for index, asked in flows if envelopes else ():
                inside = [envelope for envelope, outer in envelopes if carries(outer, asked)]
                if inside:
                    number = chains.get(inside[0], len(chains) + 1)
                    chains |= dict.fromkeys((index, *inside), number)
        return chains


def topic_names(decoded: DecodedFlow) -> Iterator[tuple[str, str]]:
    """Yield ids and names of topics, where an answer has both."""
    inner = decoded.envelope or decoded
    if inner.flow.key in NAMING and inner.response is not None:
        body: Any = inner.response.body
        for topic in getattr(body, "topics", None) or getattr(body, "responses", None) or ():
            if topic.name and topic.topic_id.int:
                yield uuid_text(topic.topic_id), topic.name
