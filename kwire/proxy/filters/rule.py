"""One rule of a rules file, as a filter."""

from __future__ import annotations

from collections.abc import Callable

from kwire.codec.declaration import Request, Response
from kwire.messages.error_response import replace_error_codes, visible_error_response
from kwire.proxy.filters.filter import (
    Action,
    Answer,
    Call,
    Close,
    Delay,
    Drop,
    Filter,
    FilterVerdict,
    Stall,
)
from kwire.proxy.filters.patch import patch
from kwire.proxy.filters.rules import Rule
from kwire.proxy.flows.interest import Direction

Dice = Callable[[], float]
"""Gives numbers from 0 up to, not including, 1."""


class RuleFilter(Filter):
    """Does what a rule says. dice: of a seed; start: the clock's time when the rules were loaded.

    hits: how often it has.
    """

    def __init__(self, rule: Rule, dice: Dice, start: float) -> None:
        self._rule = rule
        self._dice = dice
        self._start = start
        self._free: dict[int, float] = {}
        self.hits = 0

    @property
    def name(self) -> str:
        return f"rule {self._rule.name}".strip()

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """Requests are also seen where only the response is meant, since match may ask of both."""
        if direction is Direction.RESPONSE and self._rule.way is Direction.REQUEST:
            return False
        return self._rule.match.static(key, version) is not False

    def on_request(self, request: Request, call: Call) -> FilterVerdict:
        if self._rule.way is Direction.RESPONSE:
            return None
        return self._act(request, call) if self._strikes(request, call) else None

    def on_response(self, response: Response, call: Call) -> FilterVerdict:
        return self._act(response, call) if self._strikes(response, call) else None

    def _strikes(self, message: Request | Response, call: Call) -> bool:
        """Whether the rule applies, at this time, once more, and by the dice."""
        rule, age = self._rule, call.now - self._start
        if age < rule.after or (rule.until is not None and age >= rule.until):
            return False
        if rule.count is not None and self.hits >= rule.count:
            return False
        if not self._means(message, call) or (
            rule.probability < 1 and self._dice() >= rule.probability
        ):
            return False
        self.hits += 1
        return True

    def _means(self, message: Request | Response, call: Call) -> bool:
        """Whether it matches; what came in an Envelope only where that does not match itself."""
        outer = call.envelope
        if outer is not None and self._means(outer.message, outer.call):
            return False
        return self._rule.match(call.match_target(message))

    def _act(self, message: Request | Response, call: Call) -> FilterVerdict:
        then = self._end(message, call)
        seconds = self._seconds(call)
        if then is None or isinstance(then, Answer):
            call.note(f"hit by {self.name}")
        return Delay(seconds, then) if seconds > 0 else then

    def _end(self, message: Request | Response, call: Call) -> Action | None:
        rule = self._rule
        if rule.drop:
            return Drop()
        if rule.close:
            return Close()
        if rule.stall:
            return Stall()
        for path, value in (rule.patch or {}).items():
            patch(message, path, value)
        return None if rule.error is None else self._error(message, call, rule.error)

    def _error(self, message: Request | Response, call: Call, code: int) -> Action | None:
        if isinstance(message, Response):
            if not replace_error_codes(message, call.version, code):
                raise ValueError(f"{type(message).__name__} has no error code")
            return None
        answer = visible_error_response(message, call.version, code)
        if answer is None:
            raise ValueError(f"no answer to this {type(message).__name__} can carry an error")
        return Answer(answer)

    def _seconds(self, call: Call) -> float:
        """The delay, and on top the time that the bytes take at the bandwidth, one by one."""
        rule, wait = self._rule, 0.0
        if rule.delay is not None:
            spread = rule.delay.most - rule.delay.least
            wait = rule.delay.least + (spread * self._dice() if spread else 0.0)
        if rule.bandwidth is not None:
            begin = max(self._free.get(call.connection.number, 0.0), call.now)
            free = begin + call.size / rule.bandwidth
            if len(self._free) > 1000:
                self._free = {one: at for one, at in self._free.items() if at > call.now}
            self._free[call.connection.number] = free
            wait += free - call.now
        return wait
