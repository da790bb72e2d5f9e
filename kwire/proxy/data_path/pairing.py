"""Requests of one connection and their responses, paired by correlation id.

Kafka answers a connection's requests in order, so the queue also shows what was passed over.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress

from kwire.proxy.data_path.copies import Copies
from kwire.proxy.flows.flow import Connection, Ending, Flow, Kind, Notice, Sink
from kwire.proxy.flows.peers import NODE_APIS, node_of_client_id

PENDING_LIMIT = 10_000
"""Most requests that may wait for their responses on one connection and still be paired."""

_PENDING, _ANSWERED = Ending.PENDING, Ending.ANSWERED  # an enum's members are slow to look up


class Pairing:
    """What was asked on one connection and is not answered yet.

    tokens: whether the client's frames are bare SASL tokens (SaslHandshake v0), up to its first
    request. token_responses: how many of their answers, as bare, are still to come.
    """

    __slots__ = (
        "_connection",
        "_copies",
        "_pending",
        "_sink",
        "_strangers",
        "token_responses",
        "tokens",
    )

    def __init__(self, connection: Connection, sink: Sink, copies: Copies) -> None:
        self._connection = connection
        self._copies = copies
        self._pending: deque[Flow] = deque()
        self._sink = sink
        self._strangers = False
        self.tokens = False
        self.token_responses = 0

    def ask(
        self,
        head: tuple[int, int, int],
        client_id: str | None,
        size: int,
        at: float,
        now: float,
        *,
        answered: bool = True,
    ) -> Flow:
        """A request has begun: head is key, version and correlation id.

        answered: False when no response will come (Produce with acks=0).
        """
        key, version, correlation_id = head
        connection = self._connection
        if client_id != connection.client_id or (connection.peer is None and key in NODE_APIS):
            self._meet(client_id, key)
        flow = Flow(connection, key, version, correlation_id, client_id, at, now, size)
        if answered:
            self._pending.append(flow)
            if len(self._pending) > PENDING_LIMIT:
                self._lose(self._pending.popleft(), f"{PENDING_LIMIT} later requests wait as well")
        else:
            flow.ending = Ending.NO_RESPONSE
        return flow

    def answer(self, correlation_id: int, size: int, at: float, now: float) -> Flow | None:
        """A response has begun; the flow it belongs to, or None when nobody asked for it."""
        pending = self._pending
        if not pending or pending[0].correlation_id != correlation_id:
            if not any(flow.correlation_id == correlation_id for flow in pending):
                self._stranger(correlation_id, at)
                return None
            self._pass_over(correlation_id)
        flow = pending.popleft()
        flow.answered = now
        flow.response_size = size
        return flow

    def end(self, flow: Flow) -> None:
        """The last byte of a flow has passed."""
        if flow.ending is _PENDING:
            flow.ending = _ANSWERED
        flow.asked_body = None
        request, response = flow.request_copy, flow.response_copy
        if request is not None or response is not None:
            self._copies.give_back(len(request or b"") + len(response or b""))
        self._sink(flow)

    def copy_answer(self, flow: Flow, frame: bytes) -> None:
        """A response of the proxy's own, without its size, is copied where its request was."""
        copy = frame[: self._copies.copy_limit]
        if flow.request_copy is not None and self._copies.take(len(copy)):
            flow.response_copy = copy

    @property
    def connection(self) -> Connection:
        """What flows and notices call this connection."""
        return self._connection

    @property
    def first(self) -> Flow | None:
        """The flow whose response comes next."""
        return self._pending[0] if self._pending else None

    def awaits(self, correlation_id: int) -> bool:
        """Whether a response with this id is still to come."""
        return any(flow.correlation_id == correlation_id for flow in self._pending)

    def remove(self, flow: Flow) -> None:
        """No response to this will come from the node."""
        with suppress(ValueError):
            self._pending.remove(flow)

    def put_back(self, flow: Flow, problem: str) -> None:
        """A response began and will not end: nothing answers its request any more."""
        flow.answered = flow.response_size = None
        flow.problems.append(problem)
        self._pending.appendleft(flow)

    def lose(self, flow: Flow, reason: str) -> None:
        """A flow that is not pending ends without a response."""
        self._lose(flow, reason)

    def tell(self, kind: Kind, text: str, at: float) -> None:
        """Something to be known about this connection."""
        self._sink(Notice(connection=self._connection, at=at, kind=kind, text=text))

    @property
    def awaits_token(self) -> bool:
        """Whether the next frame from the node is a bare SASL token."""
        return self.token_responses > 0 and not self._pending

    def unreadable(self, text: str, at: float) -> None:
        """Something passed that the proxy could not make sense of."""
        self.tell(Kind.UNREADABLE, text, at)

    def close(self, reason: str) -> None:
        """The connection is gone: what is pending will not be answered."""
        while self._pending:
            self._lose(self._pending.popleft(), reason)

    def _meet(self, client_id: str | None, key: int) -> None:
        self._connection.client_id = client_id
        peer = node_of_client_id(client_id, key)
        if peer is not None:
            self._connection.peer = peer

    def _pass_over(self, correlation_id: int) -> None:
        while self._pending[0].correlation_id != correlation_id:
            reason = f"passed over: correlation id {correlation_id} was answered first"
            self._lose(self._pending.popleft(), reason)

    def _lose(self, flow: Flow, reason: str) -> None:
        flow.ending = Ending.LOST
        flow.problems.append(reason)
        self.end(flow)

    def _stranger(self, correlation_id: int, at: float) -> None:
        if not self._strangers:
            self._strangers = True
            text = f"a response with correlation id {correlation_id}, which no request had"
            self.unreadable(f"{text}; further ones are not reported", at)
