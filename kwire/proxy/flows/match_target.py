"""The target of an expression: a flow that has ended, or a message on its way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self
from uuid import UUID

from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.peers import node_of_request
from kwire.proxy.flows.walk import failures, scalars
from kwire.text.ids import uuid_text

_TOPIC_FIELDS = frozenset({"topic", "topic_name"})


@dataclass(eq=False)
class MatchTarget:
    """One RPC as far as it is known. request, response: their bodies, where they are decoded.

    size: bytes of the longer one of its frames, or of the one at hand. inner: what its envelope
    carries.
    """

    flow: Flow
    size: int
    request: Any = None
    response: Any = None
    inner: list[MatchTarget] = field(default_factory=list)

    @classmethod
    def of_flow(cls, decoded: DecodedFlow) -> Self:
        """Return the target for a flow, with the RPC in its envelope."""
        flow = decoded.flow
        request = decoded.request.body if decoded.request else None
        response = decoded.response.body if decoded.response else None
        inner = [] if decoded.envelope is None else [cls.of_flow(decoded.envelope)]
        size = max(flow.request_size, flow.response_size or 0)
        return cls(flow, size, request, response, list(inner))

    @property
    def layers(self) -> list[MatchTarget]:
        """Itself, and what its envelope carries."""
        return [self, *self.inner]

    @property
    def bodies(self) -> list[tuple[str, Any]]:
        """`request` and `response` with their bodies, as far as they are there."""
        both = (("request", self.request), ("response", self.response))
        return [(name, body) for name, body in both if body is not None]

    @property
    def peer(self) -> int | None:
        """The node that sent the request, where a node did and it is known."""
        node = self.flow.connection.peer
        if node is None and self.request is not None:
            node = node_of_request(self.request)
        return node

    @cached_property
    def errors(self) -> frozenset[int]:
        """The error codes in the response."""
        if self.response is None:
            return frozenset()
        return frozenset(failure.code for failure in failures(self.response))

    @cached_property
    def topics(self) -> frozenset[str]:
        """Names and ids of topics in either message."""
        return frozenset(text for _, body in self.bodies for text in _topics(body) if text)

    def values(self, path: str) -> Iterator[Any]:
        """Yield the values of fields whose path is, or ends in, this one; indices are left out."""
        for name, body in self.bodies:
            for where, _, value in scalars(body):
                full = f".{name}.{_without_indices(where)}"
                if full.endswith(f".{path}"):
                    yield value


def _without_indices(path: str) -> str:
    return "".join(part.partition("]")[2] if i else part for i, part in enumerate(path.split("[")))


def _topics(body: Any) -> Iterator[str]:
    for path, name, value in scalars(body):
        if name in _TOPIC_FIELDS or (name == "name" and "topic" in path):
            yield from (value,) if isinstance(value, str) else ()
        elif name in ("topic_id", "id") and isinstance(value, UUID):
            yield uuid_text(value)
            if value == METADATA_TOPIC_ID:
                yield METADATA_TOPIC
