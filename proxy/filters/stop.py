"""Stops requests until somebody has looked at them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kwire.declaration import Request
from kwire.errors import InvalidValue
from proxy.filter import Call, Filter, Verdict
from proxy.flow import Flow
from proxy.framer import Direction
from proxy.hold import ENCODING
from proxy.language import Expression
from proxy.patch import patch
from proxy.subject import Subject


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A request that is held. resume: ends the waiting with what is to become of it."""

    flow: Flow
    request: Request
    resume: Callable[[Verdict], None]


class Stop(Filter):
    """Holds the requests of which the expression is so, none where there is no expression.

    told: is called with each flow that begins to wait. Filters that have it must be replaced, if
    only by themselves, after `match` was changed: they know which messages it wants.
    """

    def __init__(self, match: Expression | None, told: Callable[[Flow], None]) -> None:
        self.match = match
        self._told = told
        self._waiting: dict[Flow, Waiting] = {}

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """What is held, the oldest first."""
        return tuple(self._waiting.values())

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """Requests alone."""
        if direction is not Direction.REQUEST or self.match is None:
            return False
        return self.match.static(key, version) is not False

    async def on_request(self, request: Request, call: Call) -> Verdict:
        if self.match is None or not self.match(Subject.of_request(request, call)):
            return None

        def wait(resume: Callable[[Verdict], None]) -> None:
            self._waiting[call.flow] = Waiting(call.flow, request, resume)
            self._told(call.flow)

        try:
            return await call.until(wait)
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
        """Set a field of a held request. Raises InvalidValue, and then nothing was changed."""
        if flow not in self._waiting:
            raise InvalidValue("the request is not held any more")
        request, version = self._waiting[flow].request, flow.version
        trial, _ = type(request).decode_from(request.encode(version), version)
        if not patch(trial, path, value):
            raise InvalidValue(f"there is nothing at {path}")
        try:
            trial.encode(version)
        except ENCODING as error:
            raise InvalidValue(f"{path} cannot be that at version {version}: {error}") from error
        patch(request, path, value)
