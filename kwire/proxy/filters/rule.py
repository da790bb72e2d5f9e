"""One rule of a rules file, as a filter."""

from __future__ import annotations

from collections.abc import Callable

from kwire.codec.declaration import Request, Response
from kwire.messages.error_response import replace_error_codes, visible_error_response
from kwire.messages.index import APIS
from kwire.messages.registry import request as api_request
from kwire.proxy.filters.chain import ENVELOPE
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

    hits: how often it has. matched: messages that matched, until it had its count.
    """

    def __init__(self, rule: Rule, dice: Dice, start: float) -> None:
        self._rule = rule
        self._dice = dice
        self._start = start
        # Worked out once, not anew at each change of the rules, by which filters are asked again.
        self._kinds = frozenset(
            (key, version)
            for key in APIS
            for version in api_request(key).versions
            if rule.match.static(key, version) is not False
        )
        self.looks_inside = any(key != ENVELOPE for key, _ in self._kinds)
        self._free: dict[int, float] = {}
        self.hits = self.matched = 0

    @property
    def name(self) -> str:
        return f"rule {self._rule.name}".strip()

    @property
    def way(self) -> Direction:
        """The messages of an RPC that the rule is about."""
        return self._rule.way

    @property
    def patches(self) -> bool:
        """True if it sets fields of messages."""
        return bool(self._rule.patch)

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """Want requests even for a rule about responses: `match` may compare fields of both."""
        if direction is Direction.RESPONSE and self._rule.way is Direction.REQUEST:
            return False
        return (key, version) in self._kinds

    def on_request(self, request: Request, call: Call) -> FilterVerdict:
        if self._rule.way is Direction.RESPONSE:
            return None
        return self._act(request, call) if self._applies(request, call) else None

    def on_response(self, response: Response, call: Call) -> FilterVerdict:
        return self._act(response, call) if self._applies(response, call) else None

    def _applies(self, message: Request | Response, call: Call) -> bool:
        """Return True, and count a hit, if the rule acts on this message, by all of its keys."""
        rule, age = self._rule, call.now - self._start
        if age < rule.after or (rule.until is not None and age >= rule.until):
            return False
        if rule.most is not None and self.hits >= rule.most:
            return False
        if not self._matches(message, call):
            return False
        self.matched += 1
        # By `nth` it is spared for good if the dice spare it: no later one is hit in its place.
        if rule.nth is not None and self.matched != rule.nth:
            return False
        # Dice are thrown last: with one seed the same messages are hit, whatever others came.
        if self.matched < rule.first or (rule.probability < 1 and self._dice() >= rule.probability):
            return False
        self.hits += 1
        return True

    def _matches(self, message: Request | Response, call: Call) -> bool:
        """Return True if the rule matches; inside an Envelope only if that does not match."""
        outer = call.envelope
        if outer is not None and self._matches(outer.message, outer.call):
            return False
        return call.matches(self._rule.match, call.match_target(message))

    def _act(self, message: Request | Response, call: Call) -> FilterVerdict:
        then = self._action(message, call)
        seconds = self._seconds(call)
        if then is None or isinstance(then, Answer):
            call.note(f"hit by {self.name}")
        return Delay(seconds, then) if seconds > 0 else then

    def _action(self, message: Request | Response, call: Call) -> Action | None:
        rule = self._rule
        if rule.drop:
            return Drop()
        if rule.close:
            return Close()
        if rule.stall:
            return Stall()
        for path, value in (rule.patch or {}).items():
            patch(message, path, value, call.effort)
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
        """Return the delay, plus the time that the bytes take at the bandwidth."""
        rule, wait = self._rule, 0.0
        if rule.delay is not None:
            spread = rule.delay.most - rule.delay.least
            wait = rule.delay.least + (spread * self._dice() if spread else 0.0)
        if rule.bandwidth is not None:
            begin = max(self._free.get(call.connection.number, 0.0), call.now)
            # The line of the connection is taken until then: frames queue up behind one another.
            free = begin + call.size / rule.bandwidth
            if len(self._free) > 1000:
                self._free = {number: at for number, at in self._free.items() if at > call.now}
            self._free[call.connection.number] = free
            wait += free - call.now
        return wait
