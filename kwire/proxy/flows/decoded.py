"""A flow with its messages, decoded when somebody looks at them, the envelope's contents too.

Nothing here raises on what came over the wire: what cannot be decoded is a problem, in a sentence.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

from kwire.codec.declaration import Request, Response
from kwire.errors import KwireError
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.net.frames import (
    RequestFrame,
    ResponseFrame,
    decode_request,
    decode_response,
    request_head,
)
from kwire.proxy.flows.cut import decode_cut_request, decode_cut_response
from kwire.proxy.flows.flow import Flow, Outcome
from kwire.proxy.flows.peers import node_of_request
from kwire.proxy.flows.text import printable
from kwire.proxy.flows.walk import ErrorField, failures

Req = TypeVar("Req", bound=Request)
Resp = TypeVar("Resp", bound=Response)


class DecodedFlow:
    """A flow with its decoded messages.

    inner: it is the content of an envelope (KIP-590), with the outer flow's times.
    """

    def __init__(self, flow: Flow, *, inner: bool = False) -> None:
        self.flow = flow
        self.is_inner = inner

    @property
    def request(self) -> RequestFrame | None:
        """The request, None where it was not copied or cannot be decoded."""
        return self._request[0]

    @property
    def response(self) -> ResponseFrame | None:
        """The response, None where there is none, or as above."""
        return self._response[0]

    def request_as(self, kind: type[Req]) -> Req | None:
        """Return the body of the request if it is of this class, else None."""
        body = self.request.body if self.request else None
        return body if isinstance(body, kind) else None

    def response_as(self, kind: type[Resp]) -> Resp | None:
        """Return the body of the response if it is of this class, else None."""
        body = self.response.body if self.response else None
        return body if isinstance(body, kind) else None

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems of this flow, a sentence each."""
        problems = [*self.flow.problems, self._request[1], self._response[1]]
        if self.envelope is not None:
            problems += [f"in the envelope: {problem}" for problem in self.envelope.problems]
        return tuple(printable(problem) for problem in problems if problem)

    @cached_property
    def failures(self) -> tuple[ErrorField, ...]:
        """The error codes of the response at every level, those inside an envelope behind."""
        own = tuple(failures(self.response.body)) if self.response else ()
        return own + (self.envelope.failures if self.envelope is not None else ())

    @property
    def errors(self) -> tuple[str, ...]:
        """The names of the errors, each once."""
        return tuple(dict.fromkeys(failure.name for failure in self.failures))

    @cached_property
    def node(self) -> int | None:
        """The node that says in the request that it is the sender."""
        return None if self.request is None else node_of_request(self.request.body)

    @cached_property
    def envelope(self) -> DecodedFlow | None:
        """The RPC inside an Envelope."""
        request = self.request_as(EnvelopeRequest)
        if request is None:
            return None
        response = self.response_as(EnvelopeResponse)
        data = None if response is None else response.response_data
        return _inner(self.flow, request.request_data, data)

    def read(self) -> None:
        """Decode now what would be decoded later."""
        _ = self.failures, self.problems

    @cached_property
    def _request(self) -> tuple[RequestFrame | None, str]:
        flow, copy = self.flow, self.flow.request_copy
        if copy is None:
            return None, ""
        try:
            # The copy was cut at its limit, mostly inside records: decode what is there.
            if len(copy) < flow.request_size:
                return decode_cut_request(copy), _cut("request", copy, flow.request_size)
            frame = decode_request(copy)
        except KwireError as error:
            return None, _undecodable("request", copy, flow.request_size, error)
        return frame, _left_over("request", frame.left_over)

    @cached_property
    def _response(self) -> tuple[ResponseFrame | None, str]:
        flow, copy = self.flow, self.flow.response_copy
        if copy is None or flow.response_size is None:
            return None, ""
        try:
            if len(copy) < flow.response_size:
                frame = decode_cut_response(copy, flow.key, flow.version)
                return frame, _cut("response", copy, flow.response_size)
            frame = decode_response(copy, flow.key, flow.version)
        except KwireError as error:
            return None, _undecodable("response", copy, flow.response_size, error)
        return frame, _left_over("response", frame.left_over)


def inner_flow(outer: Flow, request: bytes) -> Flow:
    """Return a flow of the request in an envelope, with the outer one's times.

    Raises KwireError where its header cannot be decoded.
    """
    head = request_head(request)
    return Flow(
        outer.connection,
        head.key,
        head.version,
        head.correlation_id,
        None,
        outer.at,
        outer.asked,
        len(request),
    )


def _inner(outer: Flow, request: bytes, response: bytes | None) -> DecodedFlow | None:
    try:
        flow = inner_flow(outer, request)
    except KwireError:
        return None
    flow.request_copy, flow.outcome = request, Outcome.LOST
    if response is not None:
        flow.outcome = Outcome.ANSWERED
        flow.answered = outer.answered
        flow.response_size, flow.response_copy = len(response), response
    decoded = DecodedFlow(flow, inner=True)
    if decoded.request is not None:
        flow.client_id = decoded.request.header.client_id
    return decoded


def _undecodable(what: str, copy: bytes, size: int, error: KwireError) -> str:
    if len(copy) < size:
        return f"the {what} is not decoded: {len(copy)} of its {size} bytes were copied"
    return f"the {what} is not decoded: {error}"


def _cut(what: str, copy: bytes, size: int) -> str:
    return f"{len(copy)} of the {what}'s {size} bytes were copied: its records end early"


def _left_over(what: str, count: int) -> str:
    return f"{count} bytes behind the {what}" if count else ""
