"""The frames of a connection, as its state goes to the loop in C and comes back."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.messages.registry import api_keys
from kwire.proxy.data_path.framer import RequestFramer, ResponseFramer
from kwire.proxy.data_path.moved import NS, AskedFlow, FramesState, Moved, MovedFlow
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.flows.flow import Flow, Outcome
from kwire.proxy.flows.heads import SIZE
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.peers import node_of_client_id

_NODES_ONLY = min(api_keys("Vote"))
"""An API that only nodes call, by which a client id that is a number names a node."""


class FollowedFrames:
    """The framers of a connection and its pairing, whose state another can take over."""

    def __init__(
        self, pairing: Pairing, requests: RequestFramer, responses: ResponseFramer
    ) -> None:
        self._pairing = pairing
        self._requests, self._responses = requests, responses

    @property
    def can_be_moved(self) -> bool:
        """True if the loop in C can go on from here: outside a login, and with one client id."""
        pairing = self._pairing
        return (
            self._requests.can_be_moved
            and self._responses.can_be_moved
            and pairing.connection.client_id is not None
            and not (pairing.tokens or pairing.token_responses)
            and self._requests.login_began is None
            and not self._is_answered_early
            and all(self._is_plain(flow) for flow in self._begun)
        )

    @property
    def _is_answered_early(self) -> bool:
        """True if a request is copied whose response has begun before its own last byte."""
        return self._requests.copies and self._requests.passing not in self._pairing.pending

    @property
    def _begun(self) -> Iterator[Flow]:
        yield from self._pairing.pending
        if (answering := self._responses.passing) is not None:
            yield answering

    def _is_plain(self, flow: Flow) -> bool:
        """Return True if there is no more to say of a flow than the loop knows."""
        return flow.client_id == self._pairing.connection.client_id and not flow.problems

    def moved(self, client: int, node: int) -> Moved:
        """Return the state for the loop in C, with the sockets' descriptors."""
        connection, pending = self._pairing.connection, self._pairing.pending
        client_id = connection.client_id or ""
        unknown = node_of_client_id(client_id, _NODES_ONLY) is not None and connection.peer is None
        asking, answering = self._requests.passing, self._responses.passing
        answered = 0 if answering is None else int((answering.answered or 0) * NS)
        return Moved(
            client=client,
            node=node,
            client_id=client_id.encode("utf-8", "surrogateescape"),
            identified=not unknown,
            requests=self._requests.moved,
            responses=self._responses.moved,
            pending=[_moved_flow(flow) for flow in pending],
            asking=_place(asking, pending, answering),
            answering=None if answering is None else _moved_flow(answering),
            answered=answered,
        )

    def give_up(self) -> None:
        """Follow nothing any more: the loop does."""
        self._pairing.give_up(self._begun)
        self._requests.give_up()
        self._responses.give_up()

    def restore(self, state: FramesState) -> None:
        """Go on where the loop has stopped."""
        pending = [self._flow(asked) for asked in state.pending]
        self._pairing.restore(pending)
        answering, copy = None, None
        if state.answering is not None:
            answering = self._flow(state.answering.flow)
            self._pairing.keep(answering)
            answering.answered = state.answering.answered / NS
            answering.response_size = state.responses.size - SIZE.size
            if self._requests.wants(answering, Direction.RESPONSE):
                copy = state.answering.copy
                if copy is None and state.answering.flow.no_room:
                    self._pairing.lacks_copy(answering)
        self._responses.restore(state.responses, answering, copy)
        asking = self._asking(state, pending, answering)
        self._requests.restore(state.requests, asking, self._pairing.partial_copy(asking))

    def _asking(
        self, state: FramesState, pending: list[Flow], answering: Flow | None
    ) -> Flow | None:
        """Return the flow whose request is passing."""
        if isinstance(state.asking, AskedFlow):
            unanswered = self._flow(state.asking)
            self._pairing.keep(unanswered)
            unanswered.outcome = Outcome.NO_RESPONSE
            return unanswered
        if state.asking is None:
            return None
        return answering if state.asking < 0 else pending[state.asking]

    def _flow(self, asked: AskedFlow) -> Flow:
        """Return a flow of the loop's, without a copy that nobody wants: it did not know yet."""
        flow = asked.flow(self._pairing.connection)
        if not self._requests.wants(flow, Direction.REQUEST):
            flow.request_copy = None
        elif asked.no_room and flow.request_copy is None:
            self._pairing.lacks_copy(flow)
        return flow


def _place(asking: Flow | None, pending: tuple[Flow, ...], answering: Flow | None) -> int:
    if asking is not None and asking is answering:
        return -2
    return pending.index(asking) if asking in pending else -1


def _moved_flow(flow: Flow) -> MovedFlow:
    head = (flow.key, flow.version, flow.correlation_id, flow.request_size)
    return (*head, flow.at, int(flow.asked * NS), flow.request_copy)
