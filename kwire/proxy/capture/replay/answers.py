"""The recorded answer to a request with the same API, version and body, whichever client asks.

If a request was recorded several times, its answers are used in their order, and the last one again
and again. If no body is the same, a request is answered that differs only in what `comparison`
ignores.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from kwire.codec.declaration import Request
from kwire.errors import KwireError
from kwire.messages.a18_api_versions import ApiVersion
from kwire.messages.headers import RequestHeader
from kwire.messages.registry import api_keys, api_name
from kwire.net.frames import RequestFrame, decode_request, request_head, request_header_version
from kwire.proxy.capture.replay.comparison import (
    MISSING,
    FieldPair,
    IgnoredFields,
    differences,
)
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Flow, Outcome

_ALSO_IGNORED = ("auth_bytes", "client_software_name", "client_software_version")
"""Fields that differ between clients, and do not decide about the answer."""

_BY_CLOCK = api_keys(
    "Heartbeat",
    "ConsumerGroupHeartbeat",
    "ShareGroupHeartbeat",
    "StreamsGroupHeartbeat",
    "GetTelemetrySubscriptions",
    "PushTelemetry",
)
"""APIs of which a client that is faster sends none."""

_MOST = 1000  # requests, and differences of each, that are looked at for the nearest one

RequestKind = tuple[int | None, int, int]
"""Node id, or None if it does not matter; API key; version."""


@dataclass(slots=True, eq=False)
class RecordedRequest:
    """A request that was recorded once or several times, and its flows.

    asked: how often it came.
    """

    request: RequestFrame
    flows: deque[Flow] = field(default_factory=deque)
    asked: int = 0

    def next(self) -> Flow:
        """Return the next flow, and the last one again and again."""
        self.asked += 1
        return self.flows.popleft() if len(self.flows) > 1 else self.flows[0]


class RecordedAnswers:
    """The recorded flows by their requests.

    by_node: True if only flows of the node that is asked count. unusable: flows whose request or
    response is not whole. size: requests that can be answered. ignore: fields that do not decide
    about the answer, beside those of all replays.
    """

    def __init__(
        self, flows: Iterable[Flow], *, by_node: bool = False, ignore: Iterable[str] = ()
    ) -> None:
        self._by_node = by_node
        self._exact: dict[tuple[RequestKind, bytes], RecordedRequest] = {}
        self._by_kind: dict[RequestKind, list[RecordedRequest]] = defaultdict(list)
        self._ignore = IgnoredFields((*_ALSO_IGNORED, *ignore))
        self.unusable = 0
        self.size = 0
        for flow in flows:
            self._add(flow)

    @property
    def offered(self) -> list[ApiVersion]:
        """The APIs with the lowest and the highest version that was recorded."""
        versions: dict[int, list[int]] = defaultdict(list)
        for _, key, version in self._by_kind:
            versions[key].append(version)
        return [
            ApiVersion(api_key=key, min_version=min(recorded), max_version=max(recorded))
            for key, recorded in sorted(versions.items())
        ]

    def find(self, frame: bytes, node_id: int | None) -> Flow | None:
        """Return the flow that answers a request to a node, None if none was recorded."""
        try:
            head = request_head(frame)
            kind = (node_id if self._by_node else None, head.key, head.version)
            answer = self._exact.get((kind, _body(frame))) or self._find_similar(kind, frame)
        except KwireError:
            return None
        return None if answer is None else answer.next()

    def difference(self, frame: bytes, node_id: int | None) -> str:
        """Return a sentence: in what a request differs from the nearest one that was recorded.

        Raises FrameError for no request.
        """
        head = request_head(frame)
        name = f"{api_name(head.key)} v{head.version}"
        try:
            body = decode_request(frame).body
        except KwireError as error:
            return f"{name} cannot be decoded: {error}"
        kind = (node_id if self._by_node else None, head.key, head.version)
        found: list[tuple[int, int, FieldPair]] = []
        for recorded in self._by_kind.get(kind, [])[:_MOST]:
            pairs = list(islice(self._differences(recorded.request.body, body, kind[2]), _MOST))
            found += [(len(pairs), recorded.asked, pair) for pair in pairs[:1]]
        if found:
            pair = min(found, key=lambda item: item[:2])[2]
            return f"{name} {_difference(pair)}"
        others = sorted({version for _, key, version in self._by_kind if key == head.key})
        versions = ", ".join(f"v{version}" for version in others)
        return f"{name} was not recorded" + (f": it was in {versions}" if others else "")

    @property
    def unasked(self) -> Flow | None:
        """The first flow whose request did not come, nor one that differs in ignored fields only.

        Requests that clients send by the clock are left out.
        """
        for kind, recorded in self._by_kind.items():
            came = [request.request.body for request in recorded if request.asked]
            for request in () if kind[1] in _BY_CLOCK else recorded:
                body = request.request.body
                if all(any(self._differences(body, other, kind[2])) for other in came):
                    return request.flows[0]
        return None

    def _differences(self, left: Request, right: Request, version: int) -> Iterator[FieldPair]:
        return differences(left, right, version, self._ignore)

    def _find_similar(self, kind: RequestKind, frame: bytes) -> RecordedRequest | None:
        candidates = self._by_kind.get(kind)
        if not candidates:
            return None
        body = decode_request(frame).body
        for candidate in candidates:
            if not any(self._differences(candidate.request.body, body, kind[2])):
                return candidate
        return None

    def _add(self, flow: Flow) -> None:
        if not is_usable(flow):
            self.unusable += 1
            return
        decoded = DecodedFlow(flow).request
        assert decoded is not None
        assert flow.request_copy is not None
        kind = (flow.connection.node_id if self._by_node else None, flow.key, flow.version)
        body = _body(flow.request_copy)
        recorded = self._exact.get((kind, body))
        if recorded is None:
            recorded = self._exact[kind, body] = RecordedRequest(decoded)
            self._by_kind[kind].append(recorded)
        recorded.flows.append(flow)
        self.size += 1


def _difference(pair: FieldPair) -> str:
    """Return the difference of a request on the right from the recorded one, as a predicate."""
    if pair.left is MISSING:
        return f"has {pair.path}, which was not recorded"
    if pair.right is MISSING:
        return f"lacks {pair.path}, which was recorded"
    recorded, sent = pair.texts
    return f"has {pair.path} {sent}, and {recorded} was recorded"


def is_usable(flow: Flow) -> bool:
    """True if a flow can answer: its request decodes, and all its bytes are there."""
    return DecodedFlow(flow).request is not None and _is_whole(flow)


def _is_whole(flow: Flow) -> bool:
    """True if the request has all its bytes, and so has the response if there was one."""
    request, answer = flow.request_copy, flow.response_copy
    if request is None or len(request) != flow.request_size or flow.outcome is Outcome.PENDING:
        return False
    if flow.outcome is not Outcome.ANSWERED:
        return True
    return answer is not None and len(answer) == flow.response_size


def _body(frame: bytes) -> bytes:
    """Return the bytes of a request without its header. Raises KwireError."""
    head = request_head(frame)
    _, offset = RequestHeader.decode_from(frame, request_header_version(head.key, head.version))
    return frame[offset:]
