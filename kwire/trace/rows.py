"""The row of a flow in a page's columns, and its frames with what is in their records."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kwire.codec.declaration import Group
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.proxy.capture.redaction import is_plain, redacted
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.effort import TooMuch
from kwire.proxy.flows.flow import Flow, Outcome
from kwire.proxy.flows.match_target import MatchTarget
from kwire.proxy.flows.principal import host_text, principal_text
from kwire.proxy.flows.summary import summarize
from kwire.proxy.flows.text import printable
from kwire.proxy.flows.tree import ReadRecords, Tree
from kwire.proxy.flows.walk import RECORDS_FIELDS, along, known_route
from kwire.trace.collected import is_slow
from kwire.trace.related import Chains, TraceLanes, topic_names

RECORDS_KEPT = 64
"""Bytes of a records field that are kept; of other fields all are."""

BRANCHES = 40
"""Branches of the tree for the records of one field."""

OUTCOMES = tuple(Outcome)
MICROS, NANOS = 1_000_000, 1_000_000_000
T = TypeVar("T")
_SETS = ("errors", "topics", "partitions", "groups", "transactions")


@dataclass(slots=True)
class FlowRows:
    """Makes rows, and collects what they refer to. keys: of the APIs. topics: names by ids.

    frames: by API, version and direction, and the index of the flow. trees: of records.
    """

    read_records: ReadRecords
    begin: float
    strings: dict[str | None, int] = field(default_factory=dict)
    sets: dict[tuple[Any, ...], int] = field(default_factory=dict)
    lanes: TraceLanes = field(default_factory=TraceLanes)
    chains: Chains = field(default_factory=Chains)
    topics: dict[str, str] = field(default_factory=dict)
    keys: set[int] = field(default_factory=set)
    frames: list[tuple[tuple[int, int, int, int], bytes]] = field(default_factory=list)
    trees: list[Any] = field(default_factory=list)
    _known_records: dict[bytes, int] = field(default_factory=dict)

    def row(self, index: int, number: int, flow: Flow) -> dict[str, Any]:
        """Return the values of a flow by the names of their columns."""
        flow = masked(flow)
        decoded = DecodedFlow(flow)
        target = MatchTarget.of_flow(decoded)
        self.chains.add(index, decoded)
        self.topics |= topic_names(decoded)
        connection, peer = flow.connection, target.peer
        self.keys |= {layer.flow.key for layer in target.layers}
        latency = flow.latency
        return {
            "n": number,
            "at": round((flow.at - self.begin) * MICROS),
            "lat": -1 if latency is None else max(round(latency * NANOS), 0),
            "from": self.lanes.client(flow, peer),
            "to": self.lanes.node(flow),
            "peer": -1 if peer is None else peer,
            "node": -1 if connection.node_id is None else connection.node_id,
            "conn": connection.number,
            "key": flow.key,
            "ver": flow.version,
            "client": _number(self.strings, flow.client_id),
            "address": _number(self.strings, printable(connection.client)),
            "reqSize": flow.request_size,
            "resSize": -1 if flow.response_size is None else flow.response_size,
            "size": target.size,
            "out": OUTCOMES.index(flow.outcome),
            "sum": _number(self.strings, summarize(decoded)),
            "slow": int(is_slow(decoded)),
            **{name: self._set(target, name) for name in _SETS},
            **self._frames(index, flow, decoded),
            **_beside(decoded),
        }

    def _set(self, target: MatchTarget, name: str) -> int:
        """Return the number of a set, -1 where reading the message would take too long."""
        try:
            found = {value for layer in target.layers for value in getattr(layer, name)}
        except TooMuch:
            return -1
        return _number(self.sets, tuple(sorted(found)))

    def _frames(self, index: int, flow: Flow, decoded: DecodedFlow) -> dict[str, Any]:
        row: dict[str, Any] = {}
        records, cuts = [], []
        for direction, name, copy_, frame in (
            (0, "req", flow.request_copy, decoded.request),
            (1, "res", flow.response_copy, decoded.response),
        ):
            values = () if frame is None else _records_of(frame.body)
            records.append([self._tree(value) for value in values])
            kept, cut = shortened(copy_ or b"", values)
            cuts.append(cut)
            row[name] = -1 if copy_ is None else len(kept)
            if copy_ is not None:
                self.frames.append(((flow.key, flow.version, direction, index), kept))
        row["records"] = records if any(records) else None
        row["cuts"] = cuts if any(cuts) else None
        return row

    def _tree(self, data: bytes) -> int:
        """Return the number of the tree of records; replicas fetch the same ones."""
        if data not in self._known_records:
            self._known_records[data] = len(self.trees)
            room = [BRANCHES]
            self.trees.append(_branches(self.read_records(data, secrets=False), room))
        return self._known_records[data]


def _number(table: dict[T, int], value: T) -> int:
    """Return the number of a value in a table, by its first appearance."""
    return table.setdefault(value, len(table))


def masked(flow: Flow) -> Flow:
    """Return the flow with frames that have no secrets."""
    if is_plain(flow):
        return flow
    frames, flow = redacted(flow), copy(flow)
    flow.request_copy, flow.response_copy = frames.request, frames.response
    return flow


def shortened(frame: bytes, values: Iterable[bytes]) -> tuple[bytes, list[list[int]]]:
    """Return the frame without the ends of these values, and where how many bytes were cut out."""
    kept, cuts, end = [], [], 0
    for value in values:
        if len(value) > RECORDS_KEPT and (found := frame.find(value, end)) >= 0:
            start = found + RECORDS_KEPT
            kept.append(frame[end:start])
            end = found + len(value)
            cuts.append([start, end - start])
    return b"".join((*kept, frame[end:])), cuts


def _beside(decoded: DecodedFlow) -> dict[str, Any]:
    """Return what few flows have."""
    flow, inner = decoded.flow, decoded.envelope
    asked = decoded.request_as(EnvelopeRequest)
    own = None
    if asked is not None:
        own = {"client_host_address": host_text(asked.client_host_address)}
        if asked.request_principal:
            own["request_principal"] = principal_text(asked.request_principal)
    return {
        "inner": inner and [inner.flow.key, inner.flow.version, inner.flow.client_id],
        "own": own,
        "problems": list(decoded.problems),
        "notes": [printable(note) for note in flow.notes],
    }


def _records_of(body: Group) -> list[bytes]:
    """Return the records that are not empty, in the order of the tree."""
    steps = known_route(type(body), _is_records)
    return [data for data in along(body, steps, lambda count: None) if data]


def _is_records(path: str) -> bool:
    return path.rpartition(".")[2] in RECORDS_FIELDS


def _branches(trees: Iterable[Tree], room: list[int]) -> list[Any]:
    """Return trees as lists of name, value and branches, as many as there is room for."""
    found: list[Any] = []
    for tree in trees:
        if room[0] <= 0:
            found.append(["more", "left out of this page", []])
            break
        room[0] -= 1
        found.append([tree.name, tree.value, _branches(tree.children, room)])
    return found
