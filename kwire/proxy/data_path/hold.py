"""Holds the frames of one connection that filters want, and does what the filters say.

1. A whole frame is decoded; what cannot be decoded is sent on as it came, with the flow saying so.
2. The filters see it, in turn. It waits where they wait, and all behind it on the connection waits,
   since Kafka's clients and nodes rely on the order.
3. It is sent on, as it came unless it was changed; or answered, dropped, cut off, kept for ever.
An answer of a filter's waits for the answers to earlier requests.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, cast

from kwire.codec.declaration import Request, Response
from kwire.errors import KwireError
from kwire.net.frames import encode_response
from kwire.proxy.data_path.copies import Copies
from kwire.proxy.data_path.gate import Gate, Hands, Held
from kwire.proxy.data_path.own_requests import NotAnswered, OwnRequests
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.filters.chain import ENVELOPE, Filters, Handler, through
from kwire.proxy.filters.envelopes import through_envelope
from kwire.proxy.filters.filter import Answer, Ask, Call, Close, Drop, Stall, Until, Verdict
from kwire.proxy.filters.supervision import Supervision
from kwire.proxy.flows.flow import Deed, Ending, Flow, Kind
from kwire.proxy.flows.heads import SIZE
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.whole import ENCODING, Whole, take_apart

_REQUEST, _RESPONSE = Direction.REQUEST, Direction.RESPONSE
_Coroutine = Coroutine[Any, Any, tuple[Handler | None, Verdict]]


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """The filters at work on a frame, and what to do when they have decided."""

    held: Held
    work: _Coroutine
    decided: Callable[[Handler | None, Verdict], None]


class Hold:
    """Both gates of a connection and the filters between them.

    memory: what held frames may take; its copy_limit is the longest one. begin: before any byte.
    """

    def __init__(self, filters: Filters, pairing: Pairing, memory: Copies) -> None:
        self._filters = filters
        self._pairing = pairing
        self._local: dict[Flow, bytes] = {}
        self._own = OwnRequests(pairing)
        self._connecting: Held | None = None
        self._client_ended = self._node_ended = False
        self._passed_by: set[int] = set()
        told = self._tell_passed_by
        self.requests = Gate(_REQUEST, memory, self._wants_request, self._judge_request, told)
        self.responses = Gate(_RESPONSE, memory, self._wants_response, self._judge_response, told)

    def begin(self, hands: Hands) -> None:
        """These hands move the bytes from now on."""
        self._hands = self.requests.hands = self.responses.hands = hands

    def connect(self, then: Callable[[], None]) -> None:
        """A client is here; `then` is called when the filters let it through to the node."""
        handlers = self._filters.connecting
        if not handlers:
            then()
            return
        connection = self._pairing.connection
        flow = Flow(connection, -1, 0, 0, None, connection.at, 0.0, 0)
        self._connecting = held = Held(flow, [])
        work = through(handlers, (connection,), self._supervision(None))
        self._step(_Run(held, work, lambda handler, verdict: self._let(handler, verdict, then)))

    def own(self, correlation_id: int, size: int, now: float) -> Flow | None:
        """The flow of a filter's own request, where this response is its answer."""
        return self._own.answer(correlation_id, size, now)

    def owns(self, flow: Flow) -> bool:
        """True if a filter has sent this request and waits for its answer."""
        return self._own.has(flow)

    def answer_in_turn(self) -> None:
        """Send the filters' answers whose turn has come."""
        gate = self.responses
        while gate.between and not gate.is_shut and (flow := self._pairing.first) in self._local:
            assert flow is not None
            frame = self._local.pop(flow)
            self._pairing.remove(flow)
            flow.answered = self._hands.clock()
            flow.response_size = len(frame) - SIZE.size
            self._pairing.copy_answer(flow, frame[SIZE.size :])
            self._pairing.end(flow)
            self.responses.append(frame)

    def ended(self, direction: Direction) -> None:
        """The last byte of a direction has come: do not wait for what cannot come any more.

        1. Of the client: nobody waits for what is held for viewers, or stalled.
        2. Of the node: requests of filters are not answered any more, and behind a response that is
           stalled the end would never be told.
        """
        if direction is _REQUEST:
            self._client_ended = True
            self._lapse()
            return
        self._node_ended = True
        self._own.fail("it closed")
        if (flow := self.responses.stalled) is not None:
            self._hands.cut(f"the node closed behind the answer to {flow.api}, which is stalled")

    def shut(self, direction: Direction) -> None:
        """The end of a direction has been passed on: nothing can be sent behind it."""
        self._gate(direction).shut()
        if direction is _REQUEST:
            self._own.fail("the client has closed the connection")

    def close(self) -> None:
        """The connection is gone."""
        if self._connecting is not None:
            self._connecting.give_up()
        self.requests.close()
        self.responses.close()
        self._own.close()

    def _supervision(self, flow: Flow | None, whole: Whole | None = None) -> Supervision:
        return Supervision(self._filters, self._pairing, flow, self._hands.clock, [], whole)

    def _let(self, handler: Handler | None, verdict: Verdict, then: Callable[[], None]) -> None:
        self._connecting = None
        if isinstance(verdict, Close | Drop | Answer):
            self._hands.cut(f"refused by {_name(handler)}")
        elif verdict is None:
            then()

    def _wants_request(self, flow: Flow) -> bool:
        return self._wanted(flow, _REQUEST)

    def _wants_response(self, flow: Flow) -> bool:
        return self._own.has(flow) or self._wanted(flow, _RESPONSE)

    def _wanted(self, flow: Flow, direction: Direction) -> bool:
        filters = self._filters
        if filters.handlers(flow.key, flow.version, direction):
            return True
        return flow.key == ENVELOPE and filters.look_inside

    def _judge_request(self, held: Held) -> None:
        self._judge(held, _REQUEST)

    def _judge_response(self, held: Held) -> None:
        flow = held.flow
        own = self._own.remove(flow)
        if own is None:
            self._judge(held, _RESPONSE)
            return
        frame = b"".join(held.pieces)
        self.responses.release(held, b"")
        try:
            own.answered(take_apart(frame, flow, _RESPONSE))
        except KwireError as error:
            self._hands.cut(f"the answer to a filter's own {flow.api} cannot be decoded: {error}")

    def _judge(self, held: Held, direction: Direction) -> None:
        """Decode, and let the filters see it."""
        flow, frame = held.flow, b"".join(held.pieces)
        gate = self._gate(direction)
        try:
            whole = take_apart(frame, flow, direction)
        except KwireError as error:
            self._tell_passed_by(flow, str(error))
            gate.release(held, frame)
            return
        flow.deeds += (Deed.HELD,)
        call = Call(flow, len(frame), self._hands.clock())
        if direction is _REQUEST:
            flow.asked_body = whole.body
        else:
            call.request = cast(Request | None, flow.asked_body)
        message, supervision = cast(Request | Response, whole.body), self._supervision(flow, whole)
        work = self._meet(message, call, direction, supervision)

        def decided(handler: Handler | None, verdict: Verdict) -> None:
            self._decided(held, direction, whole, supervision, handler, verdict)

        self._step(_Run(held, work, decided))

    async def _meet(
        self,
        message: Request | Response,
        call: Call,
        direction: Direction,
        supervision: Supervision,
    ) -> tuple[Handler | None, Verdict]:
        """The filters that want a message, and those that want what is in it.

        Of a request in this order, of a response in the reverse, as everywhere.
        """
        flow, filters = call.flow, self._filters
        handlers = filters.handlers(flow.key, flow.version, direction)
        is_envelope = flow.key == ENVELOPE and filters.look_inside
        handler: Handler | None = None
        verdict: Verdict = None
        if is_envelope and direction is _RESPONSE:
            handler, verdict = await through_envelope(message, call, supervision)
        if verdict is None:
            handler, verdict = await through(handlers, (message, call), supervision)
        if verdict is None and is_envelope and direction is _REQUEST:
            handler, verdict = await through_envelope(message, call, supervision)
        return handler, verdict

    def _step(self, run: _Run, value: Any = None, error: Exception | None = None) -> None:
        """Let the filters run until they wait for something, or have decided."""
        run.held.timer = None
        run.held.lapses = False
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
            resumed = self._begin(step, run)
            if resumed is None:
                run.held.lapses = step.lapses
                self._lapse()
                return
            value, error = resumed
        if isinstance(step, Ask):
            self._ask(step, run)
        else:
            run.held.timer = self._hands.later(max(step.seconds, 0.0), lambda: self._step(run))

    def _begin(self, step: Until[Any], run: _Run) -> tuple[Any, Exception | None] | None:
        """Let a filter wait for somebody, who ends the waiting once; what with, if that is now."""
        beginning, resumed = True, False
        found: Any = None

        def resume(value: Any) -> None:
            nonlocal found, resumed
            if resumed or run.held.coroutine is not run.work:  # the connection may have gone
                return
            resumed = True
            if beginning:
                found = value
            else:
                self._step(run, value)

        try:
            step.begin(resume)
        except Exception as error:
            resumed = True
            return None, error
        finally:
            beginning = False
        return (found, None) if resumed else None

    def _lapse(self) -> None:
        """Cut the connection of a client that does not wait for what is held any more."""
        flow = self.requests.lapsing or self.responses.lapsing if self._client_ended else None
        if flow is not None:
            self._hands.cut(f"the client closed while its {flow.api} was held")

    def _ask(self, ask: Ask, run: _Run) -> None:
        """Send a filter's own request, while the node can be asked."""

        def failed(error: Exception) -> None:
            if run.held.coroutine is run.work:
                self._step(run, error=error)

        now, of = self._hands.clock(), run.held.flow
        try:
            if self._node_ended or self.requests.is_shut:
                raise NotAnswered(f"the node cannot be asked for {type(ask.request).__name__}")
            frame = self._own.add(ask, of, now, lambda whole: self._step(run, whole.body), failed)
        except ENCODING as error:
            self._step(run, error=error)
        else:
            self.requests.insert(frame)

    def _decided(
        self,
        held: Held,
        direction: Direction,
        whole: Whole,
        supervision: Supervision,
        handler: Handler | None,
        verdict: Verdict,
    ) -> None:
        flow, gate, name = held.flow, self._gate(direction), _name(handler)
        try:
            frame = self._frame(flow, whole, supervision, verdict)
        except Exception as error:
            if isinstance(verdict, Answer):
                supervision.unsendable(error, "an answer", handler)
            else:
                supervision.unsendable(error, "a message")
            name, frame = supervision.ran[-1].filter.name, whole.frame
            verdict = Drop() if self._filters.drop_on_error else None
        match verdict:
            case None:
                gate.release(held, frame)
            case Close():
                flow.mark(Deed.CLOSED, f"closed by {name}")
                self._hands.cut(f"closed by {name}")
            case Stall():
                flow.mark(Deed.STALLED, f"stalled by {name}")
                held.stalled = held.lapses = True
                self._lapse()
                if self._node_ended:
                    self.ended(_RESPONSE)
            case Drop():
                flow.mark(Deed.DROPPED, f"{direction.value} dropped by {name}")
                gate.release(held, b"")
                self._drop(flow, direction, name)
            case Answer():
                flow.mark(verdict.deed, verdict.note or f"answered by {name}")
                self._answer(held, direction, frame)

    def _frame(self, flow: Flow, whole: Whole, supervision: Supervision, verdict: Verdict) -> bytes:
        """Return the bytes to be sent, if any. Raises what encoding raises."""
        if isinstance(verdict, Answer):
            number = flow.correlation_id
            return encode_response(verdict.response, flow.version, correlation_id=number)
        if supervision.broken or verdict is not None:
            return whole.frame
        frame = whole.encode()
        if frame is not whole.frame and supervision.changed:
            flow.mark(Deed.CHANGED, "changed by a filter")
        return frame

    def _drop(self, flow: Flow, direction: Direction, name: str) -> None:
        if direction is _REQUEST and flow.ending is Ending.PENDING:
            self._pairing.remove(flow)
            self._pairing.lose(flow, f"the request was dropped by {name}")
            self.answer_in_turn()

    def _answer(self, held: Held, direction: Direction, frame: bytes) -> None:
        """Send a filter's answer, in place of the node's or when its turn has come."""
        flow, gate = held.flow, self._gate(direction)
        if direction is _RESPONSE:
            gate.release(held, frame)
            return
        gate.release(held, b"")
        if flow.ending is Ending.PENDING:
            self._local[flow] = frame
            self.answer_in_turn()

    def _tell_passed_by(self, flow: Flow, why: str) -> None:
        """A frame passes that filters wanted: each flow says so, and the first of an API aloud."""
        flow.problems.append(f"not filtered: {why}")
        if flow.key not in self._passed_by:
            self._passed_by.add(flow.key)
            text = f"{flow.api} v{flow.version} passed as it came: {why}; told once a connection"
            self._pairing.tell(Kind.NOT_FILTERED, text, flow.at)

    def _gate(self, direction: Direction) -> Gate:
        return self.requests if direction is _REQUEST else self.responses


def _name(handler: Handler | None) -> str:
    return "" if handler is None else handler.filter.name
