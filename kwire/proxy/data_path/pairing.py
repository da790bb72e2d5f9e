"""Requests of one connection and their responses, paired by correlation id.

Kafka answers a connection's requests in order, so the queue also shows which were never answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextlib import suppress

from kwire.proxy.data_path.copies import Copies
from kwire.proxy.flows.flow import ClientConnection, Flow, Notice, NoticeKind, Outcome, Sink
from kwire.proxy.flows.peers import NODE_APIS, node_of_client_id

PENDING_LIMIT = 10_000
"""Most requests that may wait for their responses on one connection and still be paired."""

_PENDING, _ANSWERED = Outcome.PENDING, Outcome.ANSWERED  # an enum's members are slow to look up


class Pairing:
    """The requests of one connection that are not answered yet.

    tokens: True while the client's frames are bare SASL tokens (SaslHandshake v0), up to its first
    request. token_responses: how many of their answers, as bare, are still to come.
    """

    # Every request of the proxy passes here: slots save a dictionary look-up each.
    __slots__ = (
        "_connection",
        "_copies",
        "_pending",
        "_sink",
        "_unmatched",
        "token_responses",
        "tokens",
    )

    def __init__(self, connection: ClientConnection, sink: Sink, copies: Copies) -> None:
        self._connection = connection
        self._copies = copies
        self._pending: deque[Flow] = deque()
        self._sink = sink
        self._unmatched = False
        self.tokens = False
        self.token_responses = 0

    def begin_request(
        self,
        head: tuple[int, int, int],
        client_id: str | None,
        size: int,
        at: float,
        now: float,
        *,
        answered: bool = True,
    ) -> Flow:
        """Begin the flow of a request, which waits for its response; return it.

        head: key, version and correlation id.
        answered: False when no response will come (Produce with acks=0).
        """
        key, version, correlation_id = head
        connection = self._connection
        # The common case is one comparison: a client keeps its id, and a node shows its own once.
        if client_id != connection.client_id or (connection.peer is None and key in NODE_APIS):
            self._identify(client_id, key)
        flow = Flow(connection, key, version, correlation_id, client_id, at, now, size)
        if answered:
            self._pending.append(flow)
            if len(self._pending) > PENDING_LIMIT:
                self.doubt()
                reason = f"{PENDING_LIMIT} later requests wait as well"
                self.lose(self._pending.popleft(), reason)
        else:
            flow.outcome = Outcome.NO_RESPONSE
            # Whose login is followed has a controller as its node: it serves no Produce, and may
            # refuse one by an answer after all.
            if connection.login is not None:
                self.doubt()
        return flow

    def begin_response(self, correlation_id: int, size: int, at: float, now: float) -> Flow | None:
        """Return the flow that a response belongs to, None when no request has its id."""
        pending = self._pending
        if not pending or pending[0].correlation_id != correlation_id:
            self.doubt()
            # An id that nobody used must not drop the flows before it: only one that is pending
            # proves that the node passed them over.
            if not any(flow.correlation_id == correlation_id for flow in pending):
                self._report_unmatched(correlation_id, at)
                return None
            self._lose_until(correlation_id)
        flow = pending.popleft()
        flow.answered = now
        flow.response_size = size
        return flow

    def doubt(self) -> None:
        """Take note that a response may meet the wrong request from here on.

        A client chooses correlation ids and may use one twice, so that equal ids prove nothing once
        a request or a response has gone unnoticed.
        """
        self._connection.paired = False

    def end(self, flow: Flow) -> None:
        """Hand a flow to the sink: its last byte has passed."""
        if flow.outcome is _PENDING:
            flow.outcome = _ANSWERED
        # A decoded request would keep its message alive as long as its flow is viewed.
        flow.request_body = None
        request, response = flow.request_copy, flow.response_copy
        if request is not None or response is not None:
            self._copies.give_back(len(request or b"") + len(response or b""))
        self._sink(flow)

    def copy_answer(self, flow: Flow, frame: bytes) -> None:
        """Copy a response of the proxy's own, without its size, if its request was copied."""
        copy = frame[: self._copies.copy_limit]
        if flow.request_copy is not None and self._copies.take(len(copy)):
            flow.response_copy = copy

    def copy_changed(self, flow: Flow, copy: bytes | None, frame: bytes) -> bytes | None:
        """Return the copy of a response that the client gets in place of the node's.

        frame: without its size. copy: of the node's; None if it was not copied.
        """
        flow.response_size = len(frame)
        if copy is None:
            return None
        self._copies.give_back(len(copy))
        copy = frame[: self._copies.copy_limit]
        if self._copies.take(len(copy)):
            return copy
        self._copies.give_up(flow.problems)
        return None

    @property
    def connection(self) -> ClientConnection:
        """The connection, as flows and notices name it."""
        return self._connection

    @property
    def first(self) -> Flow | None:
        """The flow whose response comes next."""
        return self._pending[0] if self._pending else None

    @property
    def awaited(self) -> set[int]:
        """The ids of the responses that are still to come."""
        return {flow.correlation_id for flow in self._pending}

    @property
    def pending(self) -> tuple[Flow, ...]:
        """The flows whose responses are still to come, in their order."""
        return tuple(self._pending)

    def give_up(self, flows: Iterable[Flow]) -> None:
        """Follow none of these flows any more, all that have begun: somebody else does."""
        for flow in flows:
            self._copies.give_back(len(flow.request_copy or b""))
        self._pending.clear()

    def restore(self, flows: Iterable[Flow]) -> None:
        """Wait for the responses of these flows, which somebody else has followed so far."""
        for flow in flows:
            self.keep(flow)
            self._pending.append(flow)

    def partial_copy(self, flow: Flow | None) -> bytes | None:
        """Take the copy of a restored flow whose request is not whole yet; None for none."""
        if flow is None or flow.request_copy is None:
            return None
        copy, flow.request_copy = flow.request_copy, None
        self._copies.give_back(len(copy))
        return copy

    def keep(self, flow: Flow) -> None:
        """Count the memory of a copy that somebody else has made."""
        self._copies.held += len(flow.request_copy or b"")

    def lacks_copy(self, flow: Flow) -> None:
        """Count a copy for which somebody else found no room."""
        self._copies.give_up(flow.problems)

    def remove(self, flow: Flow) -> None:
        """Stop waiting for a response to this flow: the node will send none."""
        with suppress(ValueError):
            self._pending.remove(flow)

    def put_back(self, flow: Flow, problem: str) -> None:
        """Wait again for a response: the one that began is incomplete."""
        flow.answered = flow.response_size = None
        flow.problems.append(problem)
        self._pending.appendleft(flow)

    def lose(self, flow: Flow, reason: str) -> None:
        """End a flow that is not pending without a response."""
        flow.outcome = Outcome.LOST
        flow.problems.append(reason)
        self.end(flow)

    def notify(self, kind: NoticeKind, text: str, at: float) -> None:
        """Send a notice about this connection. at: Unix seconds."""
        self._sink(Notice(connection=self._connection, at=at, kind=kind, text=text))

    @property
    def awaits_token(self) -> bool:
        """True if the next frame from the node is a bare SASL token."""
        return self.token_responses > 0 and not self._pending

    def report_unreadable(self, text: str, at: float) -> None:
        """Send a notice of bytes that passed and could not be understood."""
        self.doubt()
        self.notify(NoticeKind.UNREADABLE, text, at)

    def report_lost(self, text: str, at: float) -> None:
        """Send a notice that a direction is not looked at any more."""
        self.report_unreadable(f"{text}; from here on bytes only pass", at)

    def close(self, reason: str) -> None:
        """End what is pending without a response: the connection is gone."""
        while self._pending:
            self.lose(self._pending.popleft(), reason)

    def _identify(self, client_id: str | None, key: int) -> None:
        self._connection.client_id = client_id
        peer = node_of_client_id(client_id, key)
        if peer is not None:
            self._connection.peer = peer

    def _lose_until(self, correlation_id: int) -> None:
        while self._pending[0].correlation_id != correlation_id:
            reason = f"passed over: correlation id {correlation_id} was answered first"
            self.lose(self._pending.popleft(), reason)

    def _report_unmatched(self, correlation_id: int, at: float) -> None:
        # Once a connection: a peer may send any number of them.
        if not self._unmatched:
            self._unmatched = True
            text = f"a response with correlation id {correlation_id}, which no request waits for"
            self.report_unreadable(f"{text}; further ones are not reported", at)
