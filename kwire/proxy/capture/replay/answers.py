"""The recorded answer to a request: the same API, version and body, whoever asks.

Requests that were the same are answered in the order they were recorded in, and then with the last
answer again. Where no body is the same, one will do that differs in what `comparison` ignores.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from kwire.errors import KwireError
from kwire.messages.a18_api_versions import ApiVersion
from kwire.messages.headers import RequestHeader
from kwire.net.frames import RequestFrame, decode_request, request_head, request_header_version
from kwire.proxy.capture.replay.comparison import Ignore, differences
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Ending, Flow

_ALIKE = ("auth_bytes", "client_software_name", "client_software_version")
"""Of no account either, when a request is like a recorded one."""

Kind = tuple[int | None, int, int]
"""Node id, API key, version."""


@dataclass(slots=True, eq=False)
class Asked:
    """A request that was recorded once or often, and what became of it each time."""

    request: RequestFrame
    flows: deque[Flow] = field(default_factory=deque)

    def next(self) -> Flow:
        """What comes next; the last one for ever."""
        return self.flows.popleft() if len(self.flows) > 1 else self.flows[0]


class Answers:
    """What was recorded, by what was asked.

    by_node: whether the node that was asked matters. unusable: flows whose request or response is
    not whole. size: requests that can be answered.
    """

    def __init__(self, flows: Iterable[Flow], *, by_node: bool = False) -> None:
        self._by_node = by_node
        self._same: dict[tuple[Kind, bytes], Asked] = {}
        self._alike: dict[Kind, list[Asked]] = defaultdict(list)
        self._ignore = Ignore(_ALIKE)
        self.unusable = 0
        self.size = 0
        for flow in flows:
            self._add(flow)

    @property
    def offered(self) -> list[ApiVersion]:
        """The versions in which something was recorded, from the first to the last of each API."""
        versions: dict[int, list[int]] = defaultdict(list)
        for _, key, version in self._alike:
            versions[key].append(version)
        return [
            ApiVersion(api_key=key, min_version=min(of), max_version=max(of))
            for key, of in sorted(versions.items())
        ]

    def find(self, frame: bytes, node_id: int | None) -> Flow | None:
        """What to answer a request to a node with, None where nothing like it was recorded."""
        try:
            head = request_head(frame)
            kind = (node_id if self._by_node else None, head.key, head.version)
            asked = self._same.get((kind, _body(frame))) or self._find_alike(kind, frame)
        except KwireError:
            return None
        return None if asked is None else asked.next()

    def _find_alike(self, kind: Kind, frame: bytes) -> Asked | None:
        candidates = self._alike.get(kind)
        if not candidates:
            return None
        body = decode_request(frame).body
        for asked in candidates:
            if not any(differences(asked.request.body, body, kind[2], self._ignore)):
                return asked
        return None

    def _add(self, flow: Flow) -> None:
        decoded = DecodedFlow(flow).request
        if decoded is None or flow.request_copy is None or not _whole(flow):
            self.unusable += 1
            return
        kind = (flow.connection.node_id if self._by_node else None, flow.key, flow.version)
        body = _body(flow.request_copy)
        asked = self._same.get((kind, body))
        if asked is None:
            asked = self._same[kind, body] = Asked(decoded)
            self._alike[kind].append(asked)
        asked.flows.append(flow)
        self.size += 1


def _whole(flow: Flow) -> bool:
    """Whether the request is there with all of its bytes, and the response where there was one."""
    asked, answer = flow.request_copy, flow.response_copy
    if asked is None or len(asked) != flow.request_size or flow.ending is Ending.PENDING:
        return False
    if flow.ending is not Ending.ANSWERED:
        return True
    return answer is not None and len(answer) == flow.response_size


def _body(frame: bytes) -> bytes:
    """A request without its header. Raises KwireError."""
    head = request_head(frame)
    _, offset = RequestHeader.decode_from(frame, request_header_version(head.key, head.version))
    return frame[offset:]
