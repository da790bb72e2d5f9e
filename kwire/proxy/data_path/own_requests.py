"""Requests that filters send to the node of a connection, beside those of its client."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from kwire.errors import LocalError
from kwire.net.frames import encode_request
from kwire.proxy.data_path.copies import Copies
from kwire.proxy.data_path.filter_run import Resume
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.filters.filter import Ask
from kwire.proxy.flows.flow import ClientConnection, Flow, Sink
from kwire.proxy.flows.heads import SIZE

OWN_CLIENT_ID = "kwire-proxy"
"""The client id of requests that filters send."""

_LOWEST_ID = -(1 << 31)  # Kafka's clients count up from 0, so that these rarely meet


class NotAnswered(LocalError):
    """A request of a filter's own that the node cannot answer any more."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnRequest:
    """A request that waits for the node. resume: gives the filter the response, or the error."""

    flow: Flow
    resume: Resume


class PairingWithOwn(Pairing):
    """A pairing that also knows the requests of filters, by correlation ids of their own.

    They are not in the queue: their answers never reach the client, whose order they would break.
    """

    __slots__ = ("_numbers", "_own")

    def __init__(self, connection: ClientConnection, sink: Sink, copies: Copies) -> None:
        super().__init__(connection, sink, copies)
        self._own: dict[int, OwnRequest] = {}
        self._numbers = count(_LOWEST_ID)

    def begin_response(self, correlation_id: int, size: int, at: float, now: float) -> Flow | None:
        """Return the flow that a response belongs to, a filter's or the client's."""
        request = self._own.get(correlation_id)
        if request is None:
            return super().begin_response(correlation_id, size, at, now)
        request.flow.answered, request.flow.response_size = now, size
        return request.flow

    def put_back(self, flow: Flow, problem: str) -> None:
        """Wait again for a response; a filter's own is ended by `fail_own` instead."""
        if not self.is_own(flow):
            super().put_back(flow, problem)

    def begin_own(self, ask: Ask, held: Flow, now: float, resume: Resume) -> bytes:
        """Return the frame to send, with a correlation id that the client does not use.

        held: the flow of the message that waits for the answer. Raises one of ENCODING.
        """
        # At once: a client may have used up as many of these ids as may be pending.
        taken = self.awaited
        number = next(n for n in self._numbers if n not in taken)
        frame = encode_request(
            ask.request, ask.version, correlation_id=number, client_id=OWN_CLIENT_ID
        )
        head = (type(ask.request).key or 0, ask.version, number)
        at = held.at + now - held.asked
        flow = Flow(held.connection, *head, OWN_CLIENT_ID, at, now, len(frame) - SIZE.size)
        flow.notes += ("asked by a filter",)
        self._own[number] = OwnRequest(flow, resume)
        return frame

    def is_own(self, flow: Flow) -> bool:
        """Return True if a filter waits for the answer to this request of its own."""
        request = self._own.get(flow.correlation_id)
        return request is not None and request.flow is flow

    def take_own(self, flow: Flow) -> OwnRequest | None:
        """Remove and return the filter's request that this answers, None for the client's."""
        return self._own.pop(flow.correlation_id) if self.is_own(flow) else None

    def fail_own(self, reason: str) -> None:
        """End the filters' requests without an answer, and tell the filters.

        The node may answer all the same, with an id that the client has used since.
        """
        if self._own:
            self.doubt()
        for request in self._take_all(reason):
            error = f"the node did not answer the filter's own {request.flow.api}: {reason}"
            request.resume(error=NotAnswered(error))

    def close_own(self) -> None:
        """End the filters' requests: the connection is gone, and so are the filters that wait."""
        self._take_all("the connection ended")

    def _take_all(self, reason: str) -> list[OwnRequest]:
        waiting, self._own = list(self._own.values()), {}
        for request in waiting:
            request.flow.answered = request.flow.response_size = None
            self.lose(request.flow, reason)
        return waiting
