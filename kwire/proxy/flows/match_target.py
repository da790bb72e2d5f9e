"""The target of an expression: a flow that has ended, or a message on its way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, Self
from uuid import UUID

from kwire.codec.declaration import Group
from kwire.codec.fields import StructClass
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.effort import Effort
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.peers import node_of_request
from kwire.proxy.flows.walk import RouteStep, along, route
from kwire.text.ids import uuid_text

_TOPIC_FIELDS = frozenset({"topic", "topic_name", "topic_id", "id"})


@dataclass(eq=False)
class MatchTarget:
    """One RPC as far as it is known. request, response: their bodies, where they are decoded.

    size: bytes of the longer one of its frames, or of the one at hand. inner: what its envelope
    carries. effort: for this message, of all expressions; is_cut: one would have cost too much.
    """

    flow: Flow
    size: int
    request: Any = None
    response: Any = None
    inner: list[MatchTarget] = field(default_factory=list)
    effort: Effort = field(default_factory=Effort)
    is_cut: bool = False

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
    def bodies(self) -> list[tuple[str, Group]]:
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
        codes = along(self.response, _error_route(self.response.__class__), self.effort.look)
        return frozenset(code for code in codes if code)

    @cached_property
    def topics(self) -> frozenset[str]:
        """Names and ids of topics in either message."""
        values = (
            value
            for _, body in self.bodies
            for value in along(body, _topic_route(type(body)), self.effort.look)
        )
        return frozenset(text for value in values for text in _topics(value) if text)

    def values(self, path: str) -> Iterator[Any]:
        """Yield the values of fields whose path is, or ends in, this one; indices are left out."""
        for name, body in self.bodies:
            yield from along(body, _field_route(type(body), name, path), self.effort.look)


@lru_cache(maxsize=1000)
def _field_route(kind: StructClass, root: str, path: str) -> tuple[RouteStep, ...]:
    return route(kind, lambda full: f".{root}.{full}".endswith(f".{path}"))


@cache
def _error_route(kind: StructClass) -> tuple[RouteStep, ...]:
    return route(kind, lambda path: path.endswith("error_code"))


@cache
def _topic_route(kind: StructClass) -> tuple[RouteStep, ...]:
    return route(kind, _is_of_topic)


def _is_of_topic(path: str) -> bool:
    name = path.rpartition(".")[2]
    return name in _TOPIC_FIELDS or (name == "name" and "topic" in path)


def _topics(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, UUID):
        yield uuid_text(value)
        if value == METADATA_TOPIC_ID:
            yield METADATA_TOPIC
