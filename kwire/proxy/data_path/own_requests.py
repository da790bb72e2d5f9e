"""Requests that filters send to the node of a connection, beside those of its client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from kwire.errors import LocalError
from kwire.net.frames import encode_request
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.filters.filter import Ask
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.heads import SIZE
from kwire.proxy.flows.whole import Whole

OWN_CLIENT_ID = "kwire-proxy"
"""The client id of requests that filters send."""

_LOWEST_ID = -(1 << 31)


class NotAnswered(LocalError):
    """A request of a filter's own that the node cannot answer any more."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnRequest:
    """A request that waits for the node. answered, failed: tell the filter."""

    flow: Flow
    answered: Callable[[Whole], None]
    failed: Callable[[Exception], None]


class OwnRequests:
    """Those of one connection that wait for their answers, by their correlation ids."""

    def __init__(self, pairing: Pairing) -> None:
        self._pairing = pairing
        self._waiting: dict[int, OwnRequest] = {}
        self._numbers = count(_LOWEST_ID)

    def add(
        self,
        ask: Ask,
        held: Flow,
        now: float,
        answered: Callable[[Whole], None],
        failed: Callable[[Exception], None],
    ) -> bytes:
        """Return the frame to send, with a correlation id that the client does not use.

        held: the flow of the message that waits for the answer. Raises one of ENCODING.
        """
        number = next(n for n in self._numbers if not self._pairing.awaits(n))
        frame = encode_request(
            ask.request, ask.version, correlation_id=number, client_id=OWN_CLIENT_ID
        )
        head = (type(ask.request).key or 0, ask.version, number)
        at = held.at + now - held.asked
        flow = Flow(held.connection, *head, OWN_CLIENT_ID, at, now, len(frame) - SIZE.size)
        flow.notes += ("asked by a filter",)
        self._waiting[number] = OwnRequest(flow, answered, failed)
        return frame

    def answer(self, correlation_id: int, size: int, now: float) -> Flow | None:
        """Return the flow whose answer begins, None where it is the client's."""
        request = self._waiting.get(correlation_id)
        if request is None:
            return None
        request.flow.answered, request.flow.response_size = now, size
        return request.flow

    def has(self, flow: Flow) -> bool:
        """True if the flow is that of a request which still waits."""
        request = self._waiting.get(flow.correlation_id)
        return request is not None and request.flow is flow

    def remove(self, flow: Flow) -> OwnRequest | None:
        """Forget a request: its answer is here. None for a flow of the client's."""
        return self._waiting.pop(flow.correlation_id) if self.has(flow) else None

    def fail(self, reason: str) -> None:
        """End what waits without an answer, and tell the filters."""
        for request in self._take_all(reason):
            error = f"the node did not answer the filter's own {request.flow.api}: {reason}"
            request.failed(NotAnswered(error))

    def close(self) -> None:
        """The connection is gone, and so are those who asked."""
        self._take_all("the connection ended")

    def _take_all(self, reason: str) -> list[OwnRequest]:
        waiting, self._waiting = list(self._waiting.values()), {}
        for request in waiting:
            request.flow.answered = request.flow.response_size = None
            self._pairing.lose(request.flow, reason)
        return waiting
