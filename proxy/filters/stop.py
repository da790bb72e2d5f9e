"""Stops messages until somebody has looked at them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kwire.declaration import Request, Response
from kwire.errors import InvalidValue, KwireError
from kwire.frames import decode_request, decode_response, encode_request, encode_response
from proxy.chain import ENVELOPE
from proxy.envelopes import look_inside
from proxy.filter import Call, Filter, Verdict
from proxy.flow import Flow
from proxy.framer import Direction
from proxy.heads import SIZE
from proxy.language import Expression
from proxy.patch import patch
from proxy.subject import Subject
from proxy.whole import ENCODING

NOT_HELD = "it is not held any more"


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A message that is held. resume: ends the waiting with what is to become of it."""

    flow: Flow
    message: Request | Response
    resume: Callable[[Verdict], None]

    @property
    def frame(self) -> bytes:
        """The message as it is now, in a frame without its size. Raises one of ENCODING."""
        return _frame(self.message, self.flow)

    def copy(self) -> Request | Response:
        """Another one like it. Raises one of ENCODING."""
        if isinstance(self.message, Request):
            return decode_request(self.frame).body
        return decode_response(self.frame, self.flow.key, self.flow.version).body


class Stop(Filter):
    """Holds the messages of which the expression is so, none where there is no expression.

    Those are requests; where the expression asks for what only a response can tell, responses as
    well. told: is called with each flow that begins to wait. Filters that have it must be replaced,
    if only by themselves, after `match` was changed: they know which messages it wants. An Envelope
    is held as a whole, also where the expression is so of what it carries.
    """

    looks_inside = False

    def __init__(self, match: Expression | None, told: Callable[[Flow], None]) -> None:
        self.match = match
        self._told = told
        self._waiting: dict[Flow, Waiting] = {}

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """What is held, the oldest first."""
        return tuple(self._waiting.values())

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """Requests are also seen where only responses are meant, since match may ask of both."""
        if self.match is None:
            return False
        if key != ENVELOPE and self.match.static(key, version) is False:
            return False
        return direction is Direction.REQUEST or self.match.answers

    async def on_request(self, request: Request, call: Call) -> Verdict:
        return await self._hold(request, call)

    async def on_response(self, response: Response, call: Call) -> Verdict:
        return await self._hold(response, call)

    async def _hold(self, message: Request | Response, call: Call) -> Verdict:
        if self.match is None or not self.match(_subject(message, call)):
            return None

        def wait(resume: Callable[[Verdict], None]) -> None:
            self._waiting[call.flow] = Waiting(call.flow, message, resume)
            self._told(call.flow)

        try:
            return await call.until(wait, lapses=True)
        finally:
            self._waiting.pop(call.flow, None)

    def release(self, verdict: Verdict = None, flow: Flow | None = None) -> bool:
        """Let this one go on, or the oldest, or do something else with it; whether it was held."""
        if flow is None and self._waiting:
            flow = next(iter(self._waiting))
        if flow is None or flow not in self._waiting:
            return False
        self._waiting.pop(flow).resume(verdict)
        return True

    def edit(self, flow: Flow, path: str, value: Any) -> None:
        """Set a field of a held message. Raises InvalidValue, and then nothing was changed."""
        waiting = self._waiting.get(flow)
        if waiting is None:
            raise InvalidValue(NOT_HELD)
        try:
            trial = waiting.copy()
        except ENCODING as error:
            raise InvalidValue(f"a filter left what cannot be sent: {error}") from error
        if not patch(trial, path, value):
            raise InvalidValue(f"there is nothing at {path}")
        try:
            _frame(trial, flow)
        except ENCODING as error:
            said = f"{path} cannot be that at version {flow.version}: {error}"
            raise InvalidValue(said) from error
        patch(waiting.message, path, value)


def _subject(message: Request | Response, call: Call) -> Subject:
    subject = Subject.of(message, call)
    with suppress(KwireError):  # what cannot be decoded is held by what is around it
        inside = look_inside(message, call)
        if inside is not None:
            subject.inner.append(Subject.of(inside.message, inside.call))
    return subject


def _frame(message: Request | Response, flow: Flow) -> bytes:
    number = flow.correlation_id
    if isinstance(message, Request):
        client_id = flow.client_id
        frame = encode_request(message, flow.version, correlation_id=number, client_id=client_id)
    else:
        frame = encode_response(message, flow.version, correlation_id=number)
    return frame[SIZE.size :]
