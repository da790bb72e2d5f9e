"""Stops requests until somebody has looked at them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kwire.declaration import Request
from proxy.filter import Call, Filter, Verdict
from proxy.flow import Flow
from proxy.framer import Direction
from proxy.language import Expression
from proxy.subject import Subject


class Stop(Filter):
    """Holds the requests of which the expression is so. told: is called with each one's flow."""

    def __init__(self, match: Expression, told: Callable[[Flow], None]) -> None:
        self._match = match
        self._told = told
        self._waiting: deque[tuple[Flow, Callable[[Verdict], None]]] = deque()

    @property
    def waiting(self) -> tuple[Flow, ...]:
        """What is held, the oldest first."""
        return tuple(flow for flow, _ in self._waiting)

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """Requests alone."""
        return direction is Direction.REQUEST and self._match.static(key, version) is not False

    async def on_request(self, request: Request, call: Call) -> Verdict:
        if not self._match(Subject.of_request(request, call)):
            return None
        self._told(call.flow)
        try:
            return await call.until(lambda resume: self._waiting.append((call.flow, resume)))
        finally:
            self._waiting = deque(one for one in self._waiting if one[0] is not call.flow)

    def release(self, verdict: Verdict = None) -> bool:
        """Let the oldest go on, or do this with it; whether there was one."""
        if not self._waiting:
            return False
        _, resume = self._waiting.popleft()
        resume(verdict)
        return True
