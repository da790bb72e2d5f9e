"""Counts what passes a proxy: a sink for each flow and notice, a viewer for the error codes.

Client ids, node ids, keys and versions are a peer's word: what no schema has is counted as `other`,
and so are clients after the first hundred, and those of new combinations once there are many.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.messages.registry import api_name, request
from kwire.proxy.data_path.listener import Listener
from kwire.proxy.flows.counted_flows import CountedFlows
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import (
    ClientConnection,
    Effect,
    Event,
    Flow,
    Notice,
    NoticeKind,
    Outcome,
)
from kwire.proxy.flows.latencies import BOUNDS, LONG_POLLS, PATIENT, PROMPT
from kwire.proxy.flows.text import printable

OTHER = "other"

CLIENT_LIMIT = 100
"""Clients of a cluster that have a name of their own."""

SERIES_LIMIT = 2000
"""Combinations of labels from which on a new one is that of the client `other`."""

CLIENT_LENGTH = 100
"""Characters of a client id in a label."""

_LOST = Outcome.LOST  # an enum's members are slow to look up
_CODES = frozenset(code.value for code in ErrorCode)


class Labels(NamedTuple):
    """The labels of a flow's counts. client: `node 3` if the peer has named itself as a node."""

    node: str
    api: str
    version: str
    client: str


@dataclass(slots=True, eq=False)
class Count:
    """The counts of flows with the same labels. buckets: flows up to each bound, and longer."""

    bounds: tuple[float, ...]
    requests: int = 0
    unanswered: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(init=False)
    effects: Counter[Effect] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.buckets = [0] * (len(self.bounds) + 1)

    def add(self, flow: Flow) -> None:
        """Count one more flow."""
        self.requests += 1
        self.unanswered += flow.outcome is _LOST
        self.request_bytes += flow.request_size
        self.response_bytes += flow.response_size or 0
        if flow.answered is not None:
            latency = flow.answered - flow.asked
            self.seconds += latency
            self.buckets[bisect_left(self.bounds, latency)] += 1
        if flow.effects:
            self.effects.update(flow.effects)

    def add_counted(self, counted: CountedFlows) -> None:
        """Add flows that are counted already, by the finer buckets of `BOUNDS`."""
        self.requests += counted.requests
        self.request_bytes += counted.request_bytes
        self.response_bytes += counted.response_bytes
        self.seconds += counted.seconds
        for bound, flows in zip((*BOUNDS, inf), counted.buckets, strict=True):
            if flows:
                self.buckets[bisect_left(self.bounds, bound)] += flows


class Metrics:
    """The counts of one cluster's proxy: a sink of it, with `see` for the decoded flows.

    counts: by their labels. notices: how many of each kind, by node.
    """

    def __init__(self) -> None:
        self._counts: dict[Labels, Count] = {}
        self._found: dict[tuple[int | str | None, ...], Count] = {}
        self._clients: set[str] = set()
        self._known: dict[tuple[int, int], tuple[str, str]] = {}
        self._notices: Counter[tuple[str, NoticeKind]] = Counter()

    @property
    def counts(self) -> Mapping[Labels, Count]:
        return self._counts

    @property
    def notices(self) -> Mapping[tuple[str, NoticeKind], int]:
        return self._notices

    def __call__(self, event: Event) -> None:
        """Count an event of the data path."""
        if isinstance(event, Notice):
            self._notices[node_label(event.connection), event.kind] += 1
        else:
            self._count(event).add(event)

    def count(self, counted: CountedFlows) -> None:
        """Add what the data path has counted."""
        self._count(counted).add_counted(counted)

    def see(self, seen: DecodedFlow | Notice) -> None:
        """Count the error codes of a response, each once, as far as they can be decoded."""
        if isinstance(seen, DecodedFlow) and seen.failures:
            names = {_error(failure.code) for failure in seen.failures}
            self._count(seen.flow).errors.update(names)

    def _count(self, flow: Flow | CountedFlows) -> Count:
        at = flow.connection
        who = flow.client_id if at.peer is None else at.peer
        raw = (at.node_id, at.upstream, flow.key, flow.version, who)
        count = self._found.get(raw)
        if count is None:
            count = self._labelled(flow)
            if len(self._found) < SERIES_LIMIT:
                self._found[raw] = count
        return count

    def _labelled(self, flow: Flow | CountedFlows) -> Count:
        api, version = self._api(flow.key, flow.version)
        labels = Labels(node_label(flow.connection), api, version, self._client(flow))
        count = self._counts.get(labels)
        if count is None:
            if len(self._counts) >= SERIES_LIMIT:
                labels = labels._replace(client=OTHER)
            bounds = PATIENT if api in LONG_POLLS else PROMPT
            count = self._counts.setdefault(labels, Count(bounds))
        return count

    def _api(self, key: int, version: int) -> tuple[str, str]:
        names = self._known.get((key, version))
        if names is None:
            names = _named(key, version)
            if names[1] != OTHER:
                self._known[key, version] = names
        return names

    def _client(self, flow: Flow | CountedFlows) -> str:
        peer = flow.connection.peer
        client = (flow.client_id or "") if peer is None else f"node {peer}"
        if client in self._clients:
            return client
        client = printable(client, CLIENT_LENGTH)
        if client not in self._clients:
            if len(self._clients) >= CLIENT_LIMIT:
                return OTHER
            self._clients.add(client)
        return client


def node_label(side: ClientConnection | Listener) -> str:
    """Return the id of the node behind a listener, or its address if the id is not known."""
    return str(side.upstream if side.node_id is None else side.node_id)


def _named(key: int, version: int) -> tuple[str, str]:
    try:
        known = version in request(key).versions
    except KwireError:
        return OTHER, OTHER
    return api_name(key), str(version) if known else OTHER


def _error(code: int) -> str:
    return ErrorCode(code).name if code in _CODES else OTHER
