"""The target of an expression: a flow that has ended, or a message on its way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Self

from kwire.codec.declaration import Group
from kwire.codec.fields import StructClass
from kwire.proxy.flows import subjects
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.effort import Effort
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.peers import node_of_request
from kwire.proxy.flows.walk import RouteStep, along, known_route, route


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
        codes = along(
            self.response, known_route(self.response.__class__, _is_error), self.effort.look
        )
        return frozenset(code for code in codes if code)

    @cached_property
    def topics(self) -> frozenset[str]:
        """Names and ids of topics in either message."""
        return self._subjects(subjects.topics)

    @cached_property
    def partitions(self) -> frozenset[str]:
        """Partitions in either message, as `orders-3`, with the topic's name or id."""
        return self._subjects(subjects.partitions)

    @cached_property
    def groups(self) -> frozenset[str]:
        """Ids of groups in either message."""
        return self._subjects(subjects.groups)

    @cached_property
    def transactions(self) -> frozenset[str]:
        """Transactional ids, and producer ids as text, in either message."""
        return self._subjects(subjects.transactions)

    def _subjects(self, find: Callable[[Group, subjects.Look], Iterator[str]]) -> frozenset[str]:
        return frozenset(name for _, body in self.bodies for name in find(body, self.effort.look))

    def values(self, path: str) -> Iterator[Any]:
        """Yield the values of fields whose path is, or ends in, this one; indices are left out."""
        for name, body in self.bodies:
            yield from along(body, _field_route(type(body), name, path), self.effort.look)


@lru_cache(maxsize=1000)
def _field_route(kind: StructClass, root: str, path: str) -> tuple[RouteStep, ...]:
    return route(kind, lambda full: f".{root}.{full}".endswith(f".{path}"))


def _is_error(path: str) -> bool:
    return path.endswith("error_code")
