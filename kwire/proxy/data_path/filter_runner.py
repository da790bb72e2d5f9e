"""Runs the filters of one connection on the frames that they want, and does what they decide.

1. Decode a frame when it is whole. What cannot be decoded is sent on as it came, and its flow says
   so.
2. Show it to the filters, in turn. While they wait, the frame waits, and with it all that is behind
   it on the connection, since Kafka's clients and nodes rely on the order (`filter_run`).
3. Do what they decided: send it on, as it came unless it was changed; answer, drop, stall or close.
An answer of a filter's is sent when the earlier requests have been answered.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, cast

from kwire.codec.declaration import Request, Response
from kwire.errors import KwireError
from kwire.net.frames import encode_response
from kwire.proxy.data_path.copies import Copies, RequestShare
from kwire.proxy.data_path.filter_run import FilterRun, Resume
from kwire.proxy.data_path.gate import Gate, HeldFrame
from kwire.proxy.data_path.own_requests import NotAnswered, PairingWithOwn
from kwire.proxy.data_path.pass_through import FilterStage, Timer, Transport
from kwire.proxy.filters.chain import ENVELOPE, FilterHandler, Filters
from kwire.proxy.filters.envelopes import run_filters
from kwire.proxy.filters.filter import (
    Answer,
    Ask,
    Call,
    Close,
    Drop,
    FilterVerdict,
    Pause,
    Stall,
    Step,
    Until,
)
from kwire.proxy.filters.handler_run import run_handlers
from kwire.proxy.filters.supervision import Supervision
from kwire.proxy.flows.decoded_frame import DecodedFrame, decode_frame
from kwire.proxy.flows.flow import Effect, Flow, NoticeKind, Outcome
from kwire.proxy.flows.heads import SIZE
from kwire.proxy.flows.interest import Direction

_REQUEST, _RESPONSE = Direction.REQUEST, Direction.RESPONSE
_NEVER: Until[None] = Until(lambda resume: None, ends_with_client=True)
"""The wait of a frame that is stalled, which nothing ends but the connection."""


class FilterRunner(FilterStage):
    """The FilterStage of a connection with filters: a gate a direction, and the filters for both.

    memory: room for held frames; its copy_limit is the longest one, requests have a share.
    """

    requests: Gate
    responses: Gate

    def __init__(
        self, filters: Filters, pairing: PairingWithOwn, memory: Copies, transport: Transport
    ) -> None:
        self._filters = filters
        self._pairing = pairing
        self._transport = transport
        self._local: dict[Flow, bytes] = {}
        self._connecting: FilterRun | None = None
        self._client_ended = self._node_ended = False
        self._reported: set[int] = set()
        self.requests = self._make_gate(_REQUEST, RequestShare(memory, self._client_address))
        self.responses = self._make_gate(_RESPONSE, memory)

    def connect(self, then: Callable[[], None]) -> None:
        """Run the filters on a client that has connected; call `then` if they accept it."""
        handlers = self._filters.connecting
        if not handlers:
            then()
            return
        connection = self._pairing.connection
        # No RPC: the flow only carries what filters need to wait.
        flow = Flow(connection, -1, 0, 0, None, connection.at, 0.0, 0)
        self._connecting = self._run(flow, self._let_in(handlers, then))
        self._connecting.start()

    def is_empty(self, direction: Direction) -> bool:
        """Return True if nothing is held in this direction."""
        return self._gate(direction).idle

    def input_ended(self, direction: Direction) -> None:
        """Stop waiting for what cannot come any more: a direction's last byte has come.

        1. Of the client: it does not wait for what is held for viewers, or stalled.
        2. Of the node: requests of filters are not answered any more, a client would never learn
           of the end behind a response that is stalled, and a login ends with its connection.
        """
        if direction is _REQUEST:  # 1.
            self._client_ended = True
        else:  # 2.
            self._node_ended = True
            self._pairing.connection.login = None
            self._pairing.fail_own("it closed")
        self._abort_unwanted()

    def output_ended(self, direction: Direction) -> None:
        """Send nothing more in a direction: its end has been passed on."""
        self._gate(direction).is_shut = True
        if direction is _REQUEST:
            self._pairing.fail_own("the client has closed the connection")

    def close(self) -> None:
        """Discard what is held: the connection is gone."""
        if self._connecting is not None:
            self._connecting.close()
        self.requests.close()
        self.responses.close()
        self._pairing.close_own()

    # What the gates ask.

    def _make_gate(self, direction: Direction, memory: Copies | RequestShare) -> Gate:
        return Gate(
            direction,
            memory,
            self._transport,
            wants=partial(self._wants, direction),
            judge=partial(self._judge, direction),
            no_room=partial(self._pass_without_room, direction),
            frame_ended=self._answer_in_turn,
        )

    def _gate(self, direction: Direction) -> Gate:
        return self.requests if direction is _REQUEST else self.responses

    def _client_address(self) -> str:
        return self._pairing.connection.client.rpartition(":")[0]

    def _wants(self, direction: Direction, flow: Flow) -> bool:
        filters = self._filters
        return (
            bool(filters.handlers(flow.key, flow.version, direction))
            or (flow.key == ENVELOPE and filters.look_inside)
            or (direction is _RESPONSE and self._pairing.is_own(flow))
        )

    def _pass_without_room(self, direction: Direction, flow: Flow, reason: str) -> bool:
        """Let a frame pass that cannot be held, or close the connection; return True if it passes.

        The client knows nothing of an answer to a filter's own request.
        """
        size = flow.request_size if direction is _REQUEST else flow.response_size or 0
        must_be_seen = self._filters.must_see(flow.key, flow.version, direction, size)
        if not must_be_seen and not self._pairing.is_own(flow):
            self._report_unfiltered(flow, reason)
            return True
        said = f"the {direction.value} did not pass, since filters must see it: {reason}"
        flow.problems.append(said)
        text = f"{flow.api} v{flow.version}: {said}"
        self._pairing.notify(NoticeKind.NOT_FILTERED, text, flow.at)
        self._transport.abort(text)
        return False

    def _judge(self, direction: Direction, held: HeldFrame) -> None:
        """Run the filters, or give a filter the answer to its own request."""
        flow = held.flow
        own = self._pairing.take_own(flow) if direction is _RESPONSE else None
        if own is None:
            held.run = self._run(flow, self._filter_frame(held, direction))
            held.run.start()
            return
        frame = b"".join(held.pieces)
        self.responses.release(held, b"")
        try:
            own.resume(decode_frame(frame, flow, _RESPONSE).body)
        except KwireError as error:
            reason = f"the answer to a filter's own {flow.api} cannot be decoded: {error}"
            self._transport.abort(reason)

    # The work of filters.

    async def _let_in(self, handlers: Sequence[FilterHandler], then: Callable[[], None]) -> None:
        """Let the filters decide about a client that has connected."""
        connection = self._pairing.connection
        handler, verdict = await run_handlers(handlers, (connection,), self._supervision(None))
        if isinstance(verdict, Close | Drop | Answer):
            self._transport.abort(f"refused by {_name(handler)}")
        elif verdict is None:
            then()
        # Stall: the client stays connected, and is never let on to the node.

    async def _filter_frame(self, held: HeldFrame, direction: Direction) -> None:
        """Decode a held frame, show it to the filters, and do what they decide."""
        flow, frame = held.flow, b"".join(held.pieces)
        # 1.
        try:
            decoded = decode_frame(frame, flow, direction)
        except KwireError as error:
            self._report_unfiltered(flow, str(error))
            self._gate(direction).release(held, frame)
            return
        # 2.
        flow.effects += (Effect.HELD,)
        call = Call(flow, len(frame), self._transport.clock())
        if direction is _REQUEST:
            flow.request_body = decoded.body
        else:
            call.request = cast(Request | None, flow.request_body)
        message = cast(Request | Response, decoded.body)
        supervision = self._supervision(flow, decoded)
        handler, verdict = await run_filters(message, call, direction, supervision)
        # 3.
        name = _name(handler)
        try:
            frame = _encode(flow, decoded, supervision, verdict)
        except Exception as error:
            # A filter may leave any object in any field: engines raise whatever that gives.
            if isinstance(verdict, Answer):
                supervision.report_unsendable(error, "an answer", handler)
            else:
                supervision.report_unsendable(error, "a message")
            name = supervision.ran[-1].filter.name
            verdict = Drop() if self._filters.drop_on_error else None
        if direction is _RESPONSE and _is_changed(decoded, frame, supervision, verdict):
            held.copy = self._pairing.copy_changed(flow, held.copy, frame[SIZE.size :])
        self._act(held, direction, verdict, name, frame)
        if isinstance(verdict, Stall):
            await _NEVER

    def _act(
        self, held: HeldFrame, direction: Direction, verdict: FilterVerdict, name: str, frame: bytes
    ) -> None:
        """Do what a filter of this name decided. frame: to be sent on, or the answer."""
        flow, gate = held.flow, self._gate(direction)
        match verdict:
            case None:
                gate.release(held, frame)
            case Close():
                flow.add_effect(Effect.CLOSED, f"closed by {name}")
                self._transport.abort(f"closed by {name}")
            case Stall():
                flow.add_effect(Effect.STALLED, f"stalled by {name}")
            case Drop():
                flow.add_effect(Effect.DROPPED, f"{direction.value} dropped by {name}")
                gate.release(held, b"")
                if direction is _REQUEST and flow.outcome is Outcome.PENDING:
                    self._pairing.remove(flow)
                    self._pairing.lose(flow, f"the request was dropped by {name}")
                    self._answer_in_turn()
            case Answer():
                flow.add_effect(verdict.effect, verdict.note or f"answered by {name}")
                if direction is _RESPONSE:
                    gate.release(held, frame)
                    return
                gate.release(held, b"")
                if flow.outcome is Outcome.PENDING:
                    self._local[flow] = frame
                    self._answer_in_turn()

    def _answer_in_turn(self) -> None:
        """Send the filters' answers whose turn has come, between the node's own.

        A client reads responses in the order of its requests (NetworkClient matches them so), which
        is why an answer waits while the flow at the head of the pairing is the node's to answer.
        """
        gate = self.responses
        while self._local and gate.between and not gate.is_shut:
            flow = self._pairing.first
            if flow is None or flow not in self._local:
                return
            frame = self._local.pop(flow)
            self._pairing.remove(flow)
            flow.answered = self._transport.clock()
            flow.response_size = len(frame) - SIZE.size
            self._pairing.copy_answer(flow, frame[SIZE.size :])
            self._pairing.end(flow)
            gate.append(frame)

    # What filters wait for.

    def _run(self, flow: Flow, work: Coroutine[Any, Any, None]) -> FilterRun:
        return FilterRun(work, partial(self._begin_step, flow))

    def _begin_step(self, flow: Flow, step: Step[Any], resume: Resume) -> Timer | None:
        """Begin what the filters of a message wait for, so that it resumes them at its end."""
        match step:
            case Pause():
                return self._transport.call_later(max(step.seconds, 0.0), resume)
            case Ask():
                self._ask(step, flow, resume)
            case Until():
                step.begin(resume)
                self._abort_unwanted()
        return None

    def _ask(self, ask: Ask, flow: Flow, resume: Resume) -> None:
        """Send a filter's own request. Raises NotAnswered, or one of ENCODING."""
        if self._node_ended or self.requests.is_shut:
            raise NotAnswered(f"the node cannot be asked for {type(ask.request).__name__}")
        frame = self._pairing.begin_own(ask, flow, self._transport.clock(), resume)
        self.requests.insert(frame)

    def _abort_unwanted(self) -> None:
        """Close the connection of a client or a node that does not wait for what is held."""
        if self._client_ended:
            for held in (*self.requests.held, *self.responses.held):
                if held.waits_for is not None and held.waits_for.ends_with_client:
                    api = held.flow.api
                    self._transport.abort(f"the client closed while its {api} was held")
                    break
        head = next(self.responses.held, None)
        if self._node_ended and head is not None and head.waits_for is _NEVER:
            api = head.flow.api
            self._transport.abort(f"the node closed behind the answer to {api}, which is stalled")

    # What is reported.

    def _supervision(self, flow: Flow | None, decoded: DecodedFrame | None = None) -> Supervision:
        pairing, clock = self._pairing, self._transport.clock
        return Supervision(
            self._filters, pairing.connection, pairing.notify, flow, clock, [], decoded
        )

    def _report_unfiltered(self, flow: Flow, reason: str) -> None:
        """Report a frame that passes although filters want it: on its flow, and once an API."""
        flow.problems.append(f"not filtered: {reason}")
        if flow.key not in self._reported:
            self._reported.add(flow.key)
            message = f"{flow.api} v{flow.version}"
            text = f"{message} passed as it came: {reason}; reported once a connection"
            self._pairing.notify(NoticeKind.NOT_FILTERED, text, flow.at)


def _encode(
    flow: Flow, decoded: DecodedFrame, supervision: Supervision, verdict: FilterVerdict
) -> bytes:
    """Return the bytes to be sent, if any. Raises what encoding raises."""
    if isinstance(verdict, Answer):
        number = flow.correlation_id
        return encode_response(verdict.response, flow.version, correlation_id=number)
    if supervision.broken or verdict is not None:
        # A method that failed may have left half a change: "sent on as it came" is exact.
        return decoded.frame
    frame = decoded.encode()
    if _is_changed(decoded, frame, supervision, None):
        flow.add_effect(Effect.CHANGED, "changed by a filter")
    return frame


def _is_changed(
    decoded: DecodedFrame, frame: bytes, supervision: Supervision, verdict: FilterVerdict
) -> bool:
    """True if another message is sent; the proxy's addresses in it make no other one."""
    if verdict is None:
        return frame is not decoded.frame and supervision.changed
    return isinstance(verdict, Answer)


def _name(handler: FilterHandler | None) -> str:
    return "" if handler is None else handler.filter.name
