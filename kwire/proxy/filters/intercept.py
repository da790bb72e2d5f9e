"""Holds messages that match an expression until they are released."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from kwire.codec.declaration import Request, Response
from kwire.errors import InvalidValue, KwireError
from kwire.net.frames import decode_request, decode_response, encode_request, encode_response
from kwire.proxy.filters.chain import ENVELOPE
from kwire.proxy.filters.envelopes import Inside, look_inside
from kwire.proxy.filters.filter import Call, Filter, FilterVerdict
from kwire.proxy.filters.patch import patch
from kwire.proxy.flows.decoded_frame import ENCODING
from kwire.proxy.flows.effort import Effort
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.heads import SIZE
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.language import Expression
from kwire.proxy.flows.match_target import MatchTarget

NOT_HELD = "it is not held any more"


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A message that is held. resume: ends the wait with a verdict."""

    call: Call
    message: Request | Response
    resume: Callable[[FilterVerdict], None]

    @property
    def flow(self) -> Flow:
        """The flow of the message."""
        return self.call.flow

    @property
    def frame(self) -> bytes:
        """The message as it is now, in a frame without its size. Raises one of ENCODING."""
        flow, number = self.flow, self.flow.correlation_id
        if isinstance(self.message, Request):
            name = flow.client_id
            data = encode_request(self.message, flow.version, correlation_id=number, client_id=name)
        else:
            data = encode_response(self.message, flow.version, correlation_id=number)
        return data[SIZE.size :]

    @property
    def inside(self) -> Inside | None:
        """The message inside, where this is an Envelope whose content can be decoded."""
        with suppress(KwireError):
            return look_inside(self.message, self.call)
        return None

    def copy(self) -> Waiting:
        """Return a copy with a message of its own. Raises InvalidValue."""
        flow = self.flow
        try:
            if isinstance(self.message, Request):
                message: Request | Response = decode_request(self.frame).body
            else:
                message = decode_response(self.frame, flow.key, flow.version).body
        except ENCODING as error:
            raise InvalidValue(f"a filter left what cannot be sent: {error}") from error
        call = replace(self.call, effort=Effort(growth=self.call.effort.growth))
        return replace(self, message=message, call=call)

    def set(self, path: str, value: Any) -> None:
        """Set a field, or one of the message inside: `CreateTopicsRequest.timeout_ms`.

        Raises InvalidValue; the message may have been changed then.
        """
        inside, effort = self.inside, self.call.effort
        name, _, rest = path.partition(".")
        if inside is not None and name == type(inside.message).__name__:
            placed = patch(inside.message, rest, value, effort)
        else:
            placed = patch(self.message, path, value, effort)
        if not placed:
            raise InvalidValue(f"there is nothing at {path}")
        try:
            if inside is not None:
                inside.put_back()
            _ = self.frame
        except ENCODING as error:
            version = (inside.call if inside is not None else self.call).version
            raise InvalidValue(f"{path} cannot be that at version {version}: {error}") from error


class Intercept(Filter):
    """Holds the messages that match an expression; none while `match` is None.

    Holds requests, and responses as well if only a response can tell if the expression holds. An
    Envelope is held as a whole, also when its content matches. on_held: called with each flow that
    begins to wait. After a change of `match` call `Filters.replace`, with the same filters if
    nothing else changed: Filters remembers which messages each filter wants.
    """

    looks_inside = False

    def __init__(self, match: Expression | None, on_held: Callable[[Flow], None]) -> None:
        self.match = match
        self._on_held = on_held
        self._waiting: dict[Flow, Waiting] = {}

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """The held messages, the oldest first."""
        return tuple(self._waiting.values())

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """Want requests even where `match` is about responses: it may compare fields of both."""
        if self.match is None:
            return False
        if key != ENVELOPE and self.match.static(key, version) is False:
            return False
        return direction is Direction.REQUEST or self.match.needs_response

    async def on_request(self, request: Request, call: Call) -> FilterVerdict:
        return await self._hold(request, call)

    async def on_response(self, response: Response, call: Call) -> FilterVerdict:
        return await self._hold(response, call)

    async def _hold(self, message: Request | Response, call: Call) -> FilterVerdict:
        if self.match is None or not call.matches(self.match, _target(message, call)):
            return None

        def wait(resume: Callable[[FilterVerdict], None]) -> None:
            self._waiting[call.flow] = Waiting(call, message, resume)
            self._on_held(call.flow)

        try:
            return await call.until(wait, ends_with_client=True)
        finally:
            self._waiting.pop(call.flow, None)

    def release(self, verdict: FilterVerdict = None, flow: Flow | None = None) -> bool:
        """Send a message on, or do what `verdict` says; return False if it is not held.

        flow: that of the message, None for the oldest.
        """
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
        # On a copy first: a value that cannot be encoded must not stay in the held message.
        waiting.copy().set(path, value)
        waiting.call.effort.looks = 0  # a viewer's command is no more of what filters do
        waiting.set(path, value)


def _target(message: Request | Response, call: Call) -> MatchTarget:
    target = call.match_target(message)
    with suppress(KwireError):  # what cannot be decoded is held for what is around it
        inside = look_inside(message, call)
        if inside is not None:
            target.inner.append(inside.call.match_target(inside.message))
    return target
