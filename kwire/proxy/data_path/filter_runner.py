"""Runs the filters of one connection on the frames that they want, and does what they decide.

1. Decode a frame when it is whole. What cannot be decoded is sent on as it came, and its flow says
   so.
2. Show it to the filters, in turn. While they wait, the frame waits, and with it all that is behind
   it on the connection, since Kafka's clients and nodes rely on the order.
3. Do what they decided: send it on, as it came unless it was changed; answer, drop, stall or close.
An answer of a filter's is sent when the earlier requests have been answered.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, cast

from kwire.codec.declaration import Request, Response
from kwire.errors import KwireError
from kwire.net.frames import encode_response
from kwire.proxy.data_path.copies import Copies, RequestShare
from kwire.proxy.data_path.gate import Gate, HeldFrame
from kwire.proxy.data_path.own_requests import NotAnswered, PairingWithOwn
from kwire.proxy.data_path.pass_through import Transport
from kwire.proxy.filters.chain import ENVELOPE, FilterHandler, Filters
from kwire.proxy.filters.envelopes import run_handlers_inside
from kwire.proxy.filters.filter import Answer, Ask, Call, Close, Drop, FilterVerdict, Stall, Until
from kwire.proxy.filters.handler_run import run_handlers
from kwire.proxy.filters.supervision import Supervision
from kwire.proxy.flows.decoded_frame import ENCODING, DecodedFrame, decode_frame
from kwire.proxy.flows.flow import Effect, Flow, NoticeKind, Outcome
from kwire.proxy.flows.heads import SIZE
from kwire.proxy.flows.interest import Direction

_REQUEST, _RESPONSE = Direction.REQUEST, Direction.RESPONSE
_Work = Coroutine[Any, Any, tuple[FilterHandler | None, FilterVerdict]]


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """The filters at work on a frame. decided: takes the method that decided, and its action."""

    held: HeldFrame
    work: _Work
    decided: Callable[[FilterHandler | None, FilterVerdict], None]


class FilterRunner:
    """The FilterStage of a connection with filters: a gate a direction, and the filters for both.

    memory: room for held frames; its copy_limit is the longest one, requests have a share.
    """

    def __init__(
        self, filters: Filters, pairing: PairingWithOwn, memory: Copies, transport: Transport
    ) -> None:
        self._filters = filters
        self._pairing = pairing
        self._transport = transport
        self._local: dict[Flow, bytes] = {}
        self._connecting: HeldFrame | None = None
        self._client_ended = self._node_ended = False
        self._reported: set[int] = set()
        self.requests = Gate(
            _REQUEST,
            RequestShare(memory, self._client_address),
            transport,
            wants=self._wants_request,
            judge=self._judge_request,
            no_room=self._no_room_for_request,
            frame_ended=self._answer_in_turn,
        )
        self.responses = Gate(
            _RESPONSE,
            memory,
            transport,
            wants=self._wants_response,
            judge=self._judge_response,
            no_room=self._no_room_for_response,
            frame_ended=self._answer_in_turn,
        )

    def connect(self, then: Callable[[], None]) -> None:
        """Run the filters on a client that has connected; call `then` if they accept it."""
        handlers = self._filters.connecting
        if not handlers:
            then()
            return
        connection = self._pairing.connection
        # No RPC: the flow only carries what a held frame needs.
        flow = Flow(connection, -1, 0, 0, None, connection.at, 0.0, 0)
        self._connecting = held = HeldFrame(flow, [])
        work = run_handlers(handlers, (connection,), self._supervision(None))
        self._resume(
            _Run(
                held,
                work,
                lambda handler, verdict: self._connection_decided(handler, verdict, then),
            )
        )

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
            self._abort_unwanted()
            return
        self._node_ended = True  # 2.
        self._pairing.connection.login = None
        self._pairing.fail_own("it closed")
        if (flow := self.responses.stalled) is not None:
            reason = f"the node closed behind the answer to {flow.api}, which is stalled"
            self._transport.abort(reason)

    def output_ended(self, direction: Direction) -> None:
        """Send nothing more in a direction: its end has been passed on."""
        self._gate(direction).shut()
        if direction is _REQUEST:
            self._pairing.fail_own("the client has closed the connection")

    def close(self) -> None:
        """Discard what is held: the connection is gone."""
        if self._connecting is not None:
            self._connecting.give_up()
        self.requests.close()
        self.responses.close()
        self._pairing.close_own()

    def _supervision(self, flow: Flow | None, decoded: DecodedFrame | None = None) -> Supervision:
        pairing, clock = self._pairing, self._transport.clock
        return Supervision(
            self._filters, pairing.connection, pairing.notify, flow, clock, [], decoded
        )

    def _connection_decided(
        self, handler: FilterHandler | None, verdict: FilterVerdict, then: Callable[[], None]
    ) -> None:
        self._connecting = None
        if isinstance(verdict, Close | Drop | Answer):
            self._transport.abort(f"refused by {_name(handler)}")
        elif verdict is None:
            then()
        # Stall: the client stays connected, and is never let on to the node.

    def _wants_request(self, flow: Flow) -> bool:
        return self._wants(flow, _REQUEST)

    def _wants_response(self, flow: Flow) -> bool:
        return self._pairing.is_own(flow) or self._wants(flow, _RESPONSE)

    def _wants(self, flow: Flow, direction: Direction) -> bool:
        filters = self._filters
        if filters.handlers(flow.key, flow.version, direction):
            return True
        return flow.key == ENVELOPE and filters.look_inside

    def _no_room_for_request(self, flow: Flow, reason: str) -> bool:
        return self._no_room(flow, reason, _REQUEST, flow.request_size)

    def _no_room_for_response(self, flow: Flow, reason: str) -> bool:
        return self._no_room(flow, reason, _RESPONSE, flow.response_size or 0)

    def _no_room(self, flow: Flow, reason: str, direction: Direction, size: int) -> bool:
        """Let a frame pass that cannot be held, or close the connection; return True if it passes.

        The client knows nothing of an answer to a filter's own request.
        """
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

    def _client_address(self) -> str:
        return self._pairing.connection.client.rpartition(":")[0]

    def _judge_request(self, held: HeldFrame) -> None:
        self._run_filters(held, _REQUEST)

    def _judge_response(self, held: HeldFrame) -> None:
        """Run the filters, or give a filter the answer to its own request."""
        flow = held.flow
        own = self._pairing.take_own(flow)
        if own is None:
            self._run_filters(held, _RESPONSE)
            return
        frame = b"".join(held.pieces)
        self.responses.release(held, b"")
        try:
            own.answered(decode_frame(frame, flow, _RESPONSE))
        except KwireError as error:
            reason = f"the answer to a filter's own {flow.api} cannot be decoded: {error}"
            self._transport.abort(reason)

    def _run_filters(self, held: HeldFrame, direction: Direction) -> None:
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
        message, supervision = (
            cast(Request | Response, decoded.body),
            self._supervision(flow, decoded),
        )
        work = self._show(message, call, direction, supervision)

        def decided(handler: FilterHandler | None, verdict: FilterVerdict) -> None:
            self._decided(held, direction, decoded, supervision, handler, verdict)

        self._resume(_Run(held, work, decided))

    async def _show(
        self,
        message: Request | Response,
        call: Call,
        direction: Direction,
        supervision: Supervision,
    ) -> tuple[FilterHandler | None, FilterVerdict]:
        """Show a message to the filters that want it, and to those that want its content.

        Content is that of an Envelope: of a request behind the message itself, of a response
        before it, as the order of filters is reversed for responses.
        """
        flow, filters = call.flow, self._filters
        handlers = filters.handlers(flow.key, flow.version, direction)
        is_envelope = flow.key == ENVELOPE and filters.look_inside
        handler: FilterHandler | None = None
        verdict: FilterVerdict = None
        if is_envelope and direction is _RESPONSE:
            handler, verdict = await run_handlers_inside(message, call, supervision)
        if verdict is None:
            handler, verdict = await run_handlers(handlers, (message, call), supervision)
        if verdict is None and is_envelope and direction is _REQUEST:
            handler, verdict = await run_handlers_inside(message, call, supervision)
        return handler, verdict

    def _resume(self, run: _Run, value: Any = None, error: Exception | None = None) -> None:
        """Let the filters run until they wait for something, or have decided.

        The coroutine is driven by hand, not as a task: a filter that does not wait decides in the
        same turn of the loop in which its frame came, and nothing here needs asyncio.
        """
        run.held.timer = None
        run.held.ends_with_client = False
        run.held.coroutine = run.work
        while True:
            try:
                step = run.work.send(value) if error is None else run.work.throw(error)
            except StopIteration as stop:
                run.held.coroutine = None
                run.decided(*stop.value)
                return
            if not isinstance(step, Until):
                break
            resumed = self._begin_until(step, run)
            if resumed is None:
                run.held.ends_with_client = step.ends_with_client
                self._abort_unwanted()
                return
            value, error = resumed
        if isinstance(step, Ask):
            self._ask(step, run)
        else:
            seconds = max(step.seconds, 0.0)
            run.held.timer = self._transport.call_later(seconds, lambda: self._resume(run))

    def _begin_until(self, step: Until[Any], run: _Run) -> tuple[Any, Exception | None] | None:
        """Begin a wait of a filter's, which is ended once.

        Return the value or the error that it ended with if it did at once, else None.
        """
        beginning, ended = True, False
        result: Any = None

        def resume(value: Any) -> None:
            nonlocal result, ended
            if ended or run.held.coroutine is not run.work:  # the connection may have gone
                return
            ended = True
            if beginning:
                # The coroutine cannot be resumed from within its own step: `_resume` loops.
                result = value
            else:
                self._resume(run, value)

        try:
            step.begin(resume)
        except Exception as error:
            ended = True
            return None, error
        finally:
            beginning = False
        return (result, None) if ended else None

    def _abort_unwanted(self) -> None:
        """Close the connection of a client that does not wait any more for what is held."""
        if not self._client_ended:
            return
        flow = self.requests.ends_with_client or self.responses.ends_with_client
        if flow is not None:
            self._transport.abort(f"the client closed while its {flow.api} was held")

    def _ask(self, ask: Ask, run: _Run) -> None:
        """Send a filter's own request, if the node can still be asked."""

        def answered(answer: DecodedFrame) -> None:
            self._resume(run, answer.body)

        def failed(error: Exception) -> None:
            if run.held.coroutine is run.work:
                self._resume(run, error=error)

        now, flow = self._transport.clock(), run.held.flow
        try:
            if self._node_ended or self.requests.is_shut:
                raise NotAnswered(f"the node cannot be asked for {type(ask.request).__name__}")
            frame = self._pairing.begin_own(ask, flow, now, answered, failed)
        except ENCODING as error:
            self._resume(run, error=error)
        else:
            self.requests.insert(frame)

    def _decided(
        self,
        held: HeldFrame,
        direction: Direction,
        decoded: DecodedFrame,
        supervision: Supervision,
        handler: FilterHandler | None,
        verdict: FilterVerdict,
    ) -> None:
        # 3.
        flow, gate, name = held.flow, self._gate(direction), _name(handler)
        try:
            frame = self._frame(flow, decoded, supervision, verdict)
        except Exception as error:
            # A filter may leave any object in any field: engines raise whatever that gives.
            if isinstance(verdict, Answer):
                supervision.report_unsendable(error, "an answer", handler)
            else:
                supervision.report_unsendable(error, "a message")
            name, frame = supervision.ran[-1].filter.name, decoded.frame
            verdict = Drop() if self._filters.drop_on_error else None
        match verdict:
            case None:
                gate.release(held, frame)
            case Close():
                flow.add_effect(Effect.CLOSED, f"closed by {name}")
                self._transport.abort(f"closed by {name}")
            case Stall():
                flow.add_effect(Effect.STALLED, f"stalled by {name}")
                held.stalled = held.ends_with_client = True
                self._abort_unwanted()
                if self._node_ended:
                    self.input_ended(_RESPONSE)
            case Drop():
                flow.add_effect(Effect.DROPPED, f"{direction.value} dropped by {name}")
                gate.release(held, b"")
                self._drop(flow, direction, name)
            case Answer():
                flow.add_effect(verdict.effect, verdict.note or f"answered by {name}")
                self._answer(held, direction, frame)

    def _frame(
        self, flow: Flow, decoded: DecodedFrame, supervision: Supervision, verdict: FilterVerdict
    ) -> bytes:
        """Return the bytes to be sent, if any. Raises what encoding raises."""
        if isinstance(verdict, Answer):
            number = flow.correlation_id
            return encode_response(verdict.response, flow.version, correlation_id=number)
        if supervision.broken or verdict is not None:
            # A method that failed may have left half a change: "sent on as it came" is exact.
            return decoded.frame
        frame = decoded.encode()
        if frame is not decoded.frame and supervision.changed:
            flow.add_effect(Effect.CHANGED, "changed by a filter")
        return frame

    def _drop(self, flow: Flow, direction: Direction, name: str) -> None:
        if direction is _REQUEST and flow.outcome is Outcome.PENDING:
            self._pairing.remove(flow)
            self._pairing.lose(flow, f"the request was dropped by {name}")
            self._answer_in_turn()

    def _answer(self, held: HeldFrame, direction: Direction, frame: bytes) -> None:
        """Send a filter's answer, in place of the node's or when its turn has come."""
        flow, gate = held.flow, self._gate(direction)
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
        while gate.between and not gate.is_shut and (flow := self._pairing.first) in self._local:
            assert flow is not None
            frame = self._local.pop(flow)
            self._pairing.remove(flow)
            flow.answered = self._transport.clock()
            flow.response_size = len(frame) - SIZE.size
            self._pairing.copy_answer(flow, frame[SIZE.size :])
            self._pairing.end(flow)
            gate.append(frame)

    def _report_unfiltered(self, flow: Flow, reason: str) -> None:
        """Report a frame that passes although filters want it: on its flow, and once an API."""
        flow.problems.append(f"not filtered: {reason}")
        if flow.key not in self._reported:
            self._reported.add(flow.key)
            message = f"{flow.api} v{flow.version}"
            text = f"{message} passed as it came: {reason}; reported once a connection"
            self._pairing.notify(NoticeKind.NOT_FILTERED, text, flow.at)

    def _gate(self, direction: Direction) -> Gate:
        return self.requests if direction is _REQUEST else self.responses


def _name(handler: FilterHandler | None) -> str:
    return "" if handler is None else handler.filter.name
