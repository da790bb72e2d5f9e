"""Spans of RPCs for OpenTelemetry: the traces they belong to, and what they are linked with.

1. An RPC is a trace of its own, with ids made of what is recorded of it: the proxy and a capture of
   the same RPC give the same ids, and so does a second export.
2. An Envelope (KIP-590) carries the correlation id, client id, API and version of the request that
   a broker forwards. It is a child of the client's RPC with these that was under way meanwhile, and
   the RPC inside it is its child.
3. A request about a group, a transaction or a producer id is linked to the latest one that found,
   joined, began or ended it: that came before, and need not be its cause. A producer id is linked
   to the block of ids that it is from.

Names and sizes are in the attributes: no contents, no keys of records, no secrets.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from kwire.errors import InvalidValue
from kwire.messages.a22_init_producer_id import InitProducerIdResponse
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsResponse
from kwire.messages.registry import api_keys
from kwire.net.address import Address
from kwire.proxy.flows.chains import carries
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Flow, Outcome
from kwire.proxy.flows.match_target import MatchTarget
from kwire.proxy.flows.text import printable

HOLD = 5.0
"""Seconds of the flows' time that an Envelope waits for the end of the client's request."""

_HELD = 1000  # envelopes that wait
_SUBJECTS = 10_000  # groups, transactions and producer ids whose latest request is known
_BLOCKS = 1000  # of producer ids
_LATEST = api_keys(
    "FindCoordinator",
    "JoinGroup",
    "SyncGroup",
    "LeaveGroup",
    "InitProducerId",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "EndTxn",
)
_OPERATIONS = {"Produce": "send", "Fetch": "receive", "ShareFetch": "receive"}
_OPERATIONS |= {"OffsetCommit": "settle", "TxnOffsetCommit": "settle", "ShareAcknowledge": "settle"}

Attribute = str | int | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpanIds:
    """The ids of a span: 16 bytes of its trace, and 8 of its own."""

    trace: int
    span: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcSpan:
    """A span. node: that was asked. start, end: nanoseconds of Unix time. error: empty for none.

    links: spans with the group, transaction or producer id that both are about.
    """

    name: str
    ids: SpanIds
    parent: SpanIds | None
    node: str
    start: int
    end: int
    attributes: dict[str, Attribute]
    error: str = ""
    links: tuple[tuple[SpanIds, str], ...] = ()


class Spans:
    """Makes spans of flows as they end. untimed: flows without times, which have none."""

    def __init__(self) -> None:
        self._held: deque[DecodedFlow] = deque()
        self._latest: OrderedDict[str, SpanIds] = OrderedDict()
        self._blocks: deque[tuple[range, SpanIds]] = deque(maxlen=_BLOCKS)
        self.untimed = 0

    def add(self, decoded: DecodedFlow) -> Iterator[RpcSpan]:
        """Yield the spans that are complete with a flow."""
        flow = decoded.flow
        if not flow.at:
            self.untimed += 1
            return
        while self._held and (
            _end(self._held[0].flow) + HOLD < flow.at or len(self._held) >= _HELD
        ):
            yield from self._envelope(self._held.popleft(), None)
        if decoded.envelope is not None:
            self._held.append(decoded)
            return
        ids = _ids(flow)
        yield self._span(decoded, ids, None)
        for held in [held for held in self._held if carries(held, decoded)]:
            self._held.remove(held)
            yield from self._envelope(held, ids)

    def rest(self) -> Iterator[RpcSpan]:
        """Yield the spans of envelopes that still wait: no flow comes any more."""
        while self._held:
            yield from self._envelope(self._held.popleft(), None)

    def _envelope(self, held: DecodedFlow, client: SpanIds | None) -> Iterator[RpcSpan]:
        ids, inner = _ids(held.flow, client), held.envelope
        assert inner is not None
        yield self._span(held, ids, client)
        yield self._span(inner, _ids(inner.flow, ids, "inner"), ids)

    def _span(self, decoded: DecodedFlow, ids: SpanIds, parent: SpanIds | None) -> RpcSpan:
        flow, target = decoded.flow, MatchTarget.of_flow(decoded)
        errors = decoded.errors
        if not errors and flow.outcome not in (Outcome.ANSWERED, Outcome.NO_RESPONSE):
            errors = (flow.outcome.value,)
        attributes = _attributes(flow, target)
        if errors:
            attributes["error.type"] = errors[0]
        start = round(flow.at * 1e6)  # microseconds: of the proxy the same as of its recording
        return RpcSpan(
            name=flow.api,
            ids=ids,
            parent=parent,
            node=_node(flow),
            start=start * 1000,
            end=(start + round((flow.latency or 0.0) * 1e6)) * 1000,
            attributes=attributes,
            error=", ".join(errors[:5]),
            links=tuple(self._links(decoded, target, ids)),
        )

    def _links(
        self, decoded: DecodedFlow, target: MatchTarget, ids: SpanIds
    ) -> Iterator[tuple[SpanIds, str]]:
        subjects = [f"group {name}" for name in sorted(target.groups)]
        subjects += [f"transaction {name}" for name in sorted(target.transactions)]
        for subject in map(printable, subjects[:_BLOCKS]):
            if subject in self._latest:
                yield self._latest[subject], subject
            if decoded.flow.key in _LATEST:
                self._latest[subject] = ids
                self._latest.move_to_end(subject)
                if len(self._latest) > _SUBJECTS:
                    self._latest.popitem(last=False)
        block = decoded.response_as(AllocateProducerIdsResponse)
        if block is not None and block.producer_id_len > 0:
            first = block.producer_id_start
            self._blocks.append((range(first, first + block.producer_id_len), ids))
        producer = decoded.response_as(InitProducerIdResponse)
        if producer is not None:
            number = producer.producer_id
            yield from (
                (allocated, f"producer id {number}")
                for numbers, allocated in self._blocks
                if number in numbers
            )


def _ids(flow: Flow, parent: SpanIds | None = None, part: str = "") -> SpanIds:
    """Return the same ids for the same flow, in the trace of its parent, if it has one."""
    at = flow.connection
    recorded = (at.client, at.upstream, flow.key, flow.version, flow.correlation_id)
    digest = sha256(repr((*recorded, round(flow.at * 1e6), part)).encode()).digest()
    trace = int.from_bytes(digest[:16], "big") if parent is None else parent.trace
    return SpanIds(trace or 1, int.from_bytes(digest[16:24], "big") or 1)


def _end(flow: Flow) -> float:
    return flow.at + (flow.latency or 0.0)


def _node(flow: Flow) -> str:
    at = flow.connection
    return at.upstream if at.node_id is None else str(at.node_id)


def _attributes(flow: Flow, target: MatchTarget) -> dict[str, Attribute]:
    """Return the attributes of OpenTelemetry's conventions, and kwire's own for what has none."""
    attributes: dict[str, Attribute] = {
        "rpc.system.name": "kafka",
        "rpc.method": flow.api,
        "messaging.system": "kafka",
        "messaging.operation.name": flow.api,
        "kwire.api.version": flow.version,
        "kwire.correlation_id": flow.correlation_id,
        "kwire.request.size": flow.request_size,
    }
    for side, text in (("server", flow.connection.upstream), ("client", flow.connection.client)):
        attributes |= _address(side, text)
    named = {
        "messaging.operation.type": [_OPERATIONS.get(flow.api, "")],
        "messaging.client.id": [printable(flow.client_id or "")],
        "messaging.consumer.group.name": target.groups,
        "messaging.destination.name": target.topics,
        "messaging.destination.partition.id": [
            name.rpartition("-")[2] for name in target.partitions
        ],
    }
    for name, values in named.items():
        # A list of many would cost more than it tells.
        if len(values) == 1 and (value := printable(next(iter(values)))):
            attributes[name] = value
    if flow.connection.peer is not None:
        attributes["kwire.client.node"] = flow.connection.peer
    if flow.response_size is not None:
        attributes["kwire.response.size"] = flow.response_size
    if flow.effects:
        attributes["kwire.effects"] = tuple(effect.value for effect in flow.effects)
    return attributes


def _address(side: str, text: str) -> dict[str, Attribute]:
    try:
        address = Address.parse(text)
    except InvalidValue:
        return {}
    return {f"{side}.address": address.host, f"{side}.port": address.port}
