"""The content of an Envelope (KIP-590): taken out for filters, put back if they changed it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from kwire.codec.declaration import Request, Response
from kwire.errors import KwireError
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.net.frames import decode_request, encode_response
from kwire.proxy.filters.chain import ENVELOPE, FilterHandler
from kwire.proxy.filters.filter import Answer, Call, Drop, Envelope, FilterVerdict
from kwire.proxy.filters.handler_run import run_handlers
from kwire.proxy.filters.supervision import Supervision
from kwire.proxy.flows.decoded import inner_flow
from kwire.proxy.flows.decoded_frame import DecodedFrame, decode_frame
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.heads import SIZE
from kwire.proxy.flows.interest import Direction


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """The message in an Envelope, with the Call that filters get for it."""

    envelope: EnvelopeRequest | EnvelopeResponse
    decoded: DecodedFrame
    call: Call
    direction: Direction

    @property
    def message(self) -> Request | Response:
        """The body, which filters change in place."""
        return cast(Request | Response, self.decoded.body)

    def put_back(self) -> None:
        """Write the message into its Envelope if it was changed. Raises one of ENCODING."""
        frame = self.decoded.encode()
        if frame is self.decoded.frame:
            return
        if isinstance(self.envelope, EnvelopeRequest):
            self.envelope.request_data = frame[SIZE.size :]
        else:
            self.envelope.response_data = frame[SIZE.size :]


def look_inside(message: Request | Response, call: Call) -> Inside | None:
    """Return the message in an Envelope; None for other messages and for an empty Envelope."""
    if isinstance(message, EnvelopeRequest):
        request_envelope, direction, data = message, Direction.REQUEST, message.request_data
    elif isinstance(message, EnvelopeResponse) and isinstance(call.request, EnvelopeRequest):
        if message.response_data is None:
            return None
        request_envelope, direction, data = call.request, Direction.RESPONSE, message.response_data
    else:
        return None
    # A response has neither key nor version: those are in the request, also of an Envelope.
    request = decode_request(request_envelope.request_data)
    flow = inner_flow(call.flow, request_envelope.request_data)
    flow.client_id = request.header.client_id
    decoded = decode_frame(SIZE.pack(len(data)) + data, flow, direction)
    inner = Call(
        flow, len(decoded.frame), call.now, envelope=Envelope(message, call), effort=call.effort
    )
    if direction is Direction.RESPONSE:
        inner.request = request.body
        flow.answered, flow.response_size = call.flow.answered, len(data)
    return Inside(message, decoded, inner, direction)


async def run_filters(
    message: Request | Response, call: Call, direction: Direction, supervision: Supervision
) -> tuple[FilterHandler | None, FilterVerdict]:
    """Show a message to the filters that want it, and to those that want its content.

    Return what run_handlers does. Content is that of an Envelope: of a request behind the message
    itself, of a response before it, as the order of filters is reversed for responses.
    """
    flow, filters = call.flow, supervision.filters
    handlers = filters.handlers(flow.key, flow.version, direction)
    is_envelope = flow.key == ENVELOPE and filters.look_inside
    handler: FilterHandler | None = None
    verdict: FilterVerdict = None
    if is_envelope and direction is Direction.RESPONSE:
        handler, verdict = await _run_inside(message, call, supervision)
    if verdict is None:
        handler, verdict = await run_handlers(handlers, (message, call), supervision)
    if verdict is None and is_envelope and direction is Direction.REQUEST:
        handler, verdict = await _run_inside(message, call, supervision)
    return handler, verdict


async def _run_inside(
    message: Request | Response, call: Call, supervision: Supervision
) -> tuple[FilterHandler | None, FilterVerdict]:
    """Show the message inside to the filters, as run_handlers, and put back what they change."""
    try:
        inside = look_inside(message, call)
    except KwireError as error:
        call.flow.problems.append(f"not filtered: in the envelope: {error}")
        return None, None
    if inside is None:
        return None, None
    flow, filters = inside.call.flow, supervision.filters
    handlers = filters.handlers(flow.key, flow.version, inside.direction, inside=True)
    if any(handler.filter.marks_changes for handler in handlers):
        supervision.record_changes(marked=False)
    inner = supervision.for_inner(inside.decoded)
    try:
        handler, verdict = await run_handlers(handlers, (inside.message, inside.call), inner)
    finally:
        _copy_notes(flow, call.flow)
    try:
        if isinstance(verdict, Answer):
            verdict = replace(verdict, response=_in_envelope(verdict.response, flow))
        elif verdict is None:
            inside.put_back()
            supervision.merge_inner(inner)
    except Exception as error:
        inner.report_unsendable(error, f"{flow.api} in the envelope", handler)
        # The fault is the inner message's, but the Envelope would carry it.
        supervision.broken = True
        return (handler, Drop()) if filters.drop_on_error else (None, None)
    return handler, verdict


def _in_envelope(response: Response, flow: Flow) -> EnvelopeResponse:
    frame = encode_response(response, flow.version, correlation_id=flow.correlation_id)
    return EnvelopeResponse(response_data=frame[SIZE.size :])


def _copy_notes(inner: Flow, outer: Flow) -> None:
    """Copy what filters noted to the outer flow, the only one that viewers see."""
    outer.notes += tuple(f"in the envelope: {note}" for note in inner.notes)
    outer.effects += inner.effects
    outer.problems += [f"in the envelope: {problem}" for problem in inner.problems]
