"""The filter language: `~api Fetch & ~lat >100ms & !~client raft-client-2`.

One language for what is viewed, held, recorded and matched by rules. Its terms are in `terms`; a
field is compared as `voter_id==3000`; `!` binds closest, then `&` (or nothing at all), then `|`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyparsing as pp

from kwire.errors import InvalidValue
from kwire.proxy.flows.effort import TooMuch
from kwire.proxy.flows.match_target import MatchTarget
from kwire.proxy.flows.terms import COMPARE, FLAGS, LOOK, TERMS, TermTest, field_test, term_test
from kwire.text.untrusted import cut_repr

DEPTH = 40
"""Parentheses and negations that may be nested."""

LONGEST = 4000
"""Characters of an expression."""

PARTS = 100
"""Terms, comparisons and listed values of an expression. A viewer's is read in the event loop."""

COST = 20 * LOOK
"""The most that the terms of an expression may cost for a message, see TermTest."""

_PART = re.compile(r"[~,]|[=!<>]=|[<>]")

SHOWN = 200
"""Characters of an expression that its error shows."""

_ALL_TERMS = (*TERMS, *FLAGS)

_MEANINGLESS = "meaningless: "
"""Marks what a term said of its text: pyparsing makes another exception of the one it gets."""


class BadExpression(InvalidValue):
    """An expression that cannot be read. column: counts from 1."""

    def __init__(self, text: str, column: int, reason: str) -> None:
        self.text = text
        self.column = column
        self.reason = reason
        # Of a long expression the end before the column, and what follows it.
        start = max(column - SHOWN // 2, 1) if len(text) > SHOWN else 1
        line = text[start - 1 : start - 1 + SHOWN].replace("\n", " ")
        super().__init__(f"column {column}: {reason}\n  {line}\n  {' ' * (column - start)}^")


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition on RPCs. needs_response: only a response can tell if it holds."""

    @property
    def needs_response(self) -> bool:
        """True if it cannot hold for a request alone, only for an RPC with its response."""
        raise NotImplementedError

    @property
    def cost(self) -> int:
        """The sum of what its patterns cost."""
        raise NotImplementedError

    def test(self, target: MatchTarget) -> bool | None:
        """Return whether it holds, None if this much of the RPC cannot tell."""
        raise NotImplementedError

    def static(self, key: int, version: int) -> bool | None:
        """Return whether it holds for all messages of an API and version, None if that depends."""
        raise NotImplementedError

    def found(self, target: MatchTarget) -> Iterator[tuple[str, Any]]:
        """Yield name and value of what makes it hold: of a negation nothing does."""
        yield from ()

    def __call__(self, target: MatchTarget) -> bool:
        """Return True if it is known to hold."""
        return self.test(target) is True


@dataclass(frozen=True, slots=True)
class TermExpression(Expression):
    """One term or comparison."""

    term: TermTest

    @property
    def needs_response(self) -> bool:
        return self.term.needs_response

    @property
    def cost(self) -> int:
        return self.term.cost

    def test(self, target: MatchTarget) -> bool | None:
        try:
            return self.term.test(target)
        except TooMuch:
            target.is_cut = True
            return None

    def static(self, key: int, version: int) -> bool | None:
        return self.term.static(key, version)

    def found(self, target: MatchTarget) -> Iterator[tuple[str, Any]]:
        try:
            yield from self.term.find(target)
        except TooMuch:
            target.is_cut = True


@dataclass(frozen=True, slots=True)
class Not(Expression):
    """The opposite; what is unknown stays so."""

    part: Expression

    @property
    def needs_response(self) -> bool:
        return self.part.needs_response

    @property
    def cost(self) -> int:
        return self.part.cost

    def test(self, target: MatchTarget) -> bool | None:
        return _opposite(self.part.test(target))

    def static(self, key: int, version: int) -> bool | None:
        return _opposite(self.part.static(key, version))


@dataclass(frozen=True, slots=True)
class Many(Expression):
    """All of the parts, or any of them. decisive: the answer of one part that settles it."""

    parts: tuple[Expression, ...]
    decisive: bool

    @property
    def needs_response(self) -> bool:
        return any(part.needs_response for part in self.parts)

    @property
    def cost(self) -> int:
        return sum(part.cost for part in self.parts)

    def test(self, target: MatchTarget) -> bool | None:
        return self._settle(part.test(target) for part in self.parts)

    def static(self, key: int, version: int) -> bool | None:
        return self._settle(part.static(key, version) for part in self.parts)

    def found(self, target: MatchTarget) -> Iterator[tuple[str, Any]]:
        for part in self.parts:
            yield from part.found(target)

    def _settle(self, answers: Iterable[bool | None]) -> bool | None:
        result: bool | None = not self.decisive
        for answer in answers:
            if answer is self.decisive:
                return answer
            if answer is None:
                result = None
        return result


def in_quotes(text: str) -> str:
    """Return a text in quotes, for an expression."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def parse(text: str) -> Expression:
    """Read an expression; BadExpression points at the column where it goes wrong."""
    if len(text) > LONGEST or _depth(text) > DEPTH:
        raise BadExpression(text[:80], 1, f"too long or nested deeper than {DEPTH}")
    if len(_PART.findall(text)) > PARTS:
        reason = f"more than {PARTS} terms, comparisons and listed values are too many"
        raise BadExpression(text[:80], 1, reason)
    if not text.strip():
        raise BadExpression(text, 1, "nothing is here; write for example ~api Fetch")
    try:
        expression: Expression = _grammar().parse_string(text, parse_all=True)[0]
    except pp.ParseBaseException as error:
        raise BadExpression(text, error.loc + 1, _reason(error, text)) from None
    if expression.cost > COST:
        most = COST // LOOK
        reason = f"more than {most} comparisons and patterns of topics take too long for a message"
        raise BadExpression(text, 1, reason)
    return expression


def _depth(text: str) -> int:
    return max(text.count("("), text.count("!"))


def _reason(error: pp.ParseBaseException, text: str) -> str:
    if error.msg.startswith(_MEANINGLESS):
        return error.msg.removeprefix(_MEANINGLESS)
    rest = text[error.loc :].split()
    if not rest:
        return "the expression ends too early"
    word = rest[0]
    if word.startswith("~") and word not in _ALL_TERMS:
        return f"there is no term {cut_repr(word)}; there are {' '.join(_ALL_TERMS)}"
    if word in _ALL_TERMS:
        return f"{word} stands where it cannot"
    return (
        f"{cut_repr(word)} cannot stand here; join terms with & or |, compare fields as name==value"
    )


@cache
def _grammar() -> pp.ParserElement:
    """Built on first use; `-` means that nothing else can follow, so that errors point there."""
    quoted = pp.QuotedString('"', esc_char="\\") | pp.QuotedString("'", esc_char="\\")
    amount = pp.Regex(r"(==|!=|<=|>=|<|>)\s*[^\s()&|!\"'~]+")
    bare = pp.Regex(r"""[^\s()&|!"'~][^\s()&|"']*""")
    name = pp.Regex(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
    value = quoted | pp.Regex(r"""[^\s()&|!"'~]+""")
    names = sorted(TERMS, key=len, reverse=True)
    term = pp.Regex(rf"({'|'.join(names)})(?![A-Za-z])") - pp.Located(quoted | amount | bare)
    flag = pp.Regex(rf"({'|'.join(FLAGS)})(?![A-Za-z])")
    comparison = name + pp.one_of(list(COMPARE)) - value
    either = pp.Forward()
    operand = pp.Forward()
    negation = pp.Suppress("!") - operand
    operand <<= (
        negation.set_parse_action(lambda tokens: Not(tokens[0]))
        | pp.Suppress("(") - either - pp.Suppress(")")
        | flag.set_parse_action(lambda tokens: TermExpression(FLAGS[tokens[0]]))
        | term.set_parse_action(_term)
        | comparison.set_parse_action(_comparison)
    )
    every = (operand + pp.ZeroOrMore(pp.Suppress("&") - operand | operand)).set_parse_action(_all)
    either <<= (every + pp.ZeroOrMore(pp.Suppress("|") - every)).set_parse_action(_any)
    return either


def _term(text: str, location: int, tokens: pp.ParseResults) -> TermExpression:
    name, start, (value,), _ = tokens
    try:
        return TermExpression(
            term_test(name, value.replace(" ", "") if value[:1] in "<>=!" else value)
        )
    except InvalidValue as error:
        raise _meaningless(text, start, error) from None


def _comparison(text: str, location: int, tokens: pp.ParseResults) -> TermExpression:
    try:
        return TermExpression(field_test(*tokens))
    except InvalidValue as error:
        raise _meaningless(text, location, error) from None


def _meaningless(text: str, start: int, error: InvalidValue) -> pp.ParseFatalException:
    blank = len(text[start:]) - len(text[start:].lstrip())
    return pp.ParseFatalException(text, start + blank, f"{_MEANINGLESS}{error}")


def _all(tokens: pp.ParseResults) -> Expression:
    return _many(tokens, decisive=False)


def _any(tokens: pp.ParseResults) -> Expression:
    return _many(tokens, decisive=True)


def _many(tokens: pp.ParseResults, *, decisive: bool) -> Expression:
    parts: tuple[Expression, ...] = tuple(tokens)
    return parts[0] if len(parts) == 1 else Many(parts, decisive)


def _opposite(answer: bool | None) -> bool | None:
    return None if answer is None else not answer
