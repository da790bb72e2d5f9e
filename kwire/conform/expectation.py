"""Expectations of a server after a request: an answer, an end of the connection, silence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from kwire.codec.declaration import Response
from kwire.conform.reaction import ConnectionState, Reaction, error_text
from kwire.conform.vocabulary import BrokenAnswer, ConformanceVerdict, Deviation, Skipped
from kwire.error_codes import ErrorCode
from kwire.messages.access_control import AclOperation


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A kind of reaction. text: as reports have it.

    fault: returns the evidence against a reaction, for a report; empty for one of this kind.
    connection: the states that the connection may have afterwards. code: of the answer, if one is.
    """

    text: str
    fault: Callable[[Reaction], str]
    connection: frozenset[ConnectionState] = frozenset({ConnectionState.OPEN})
    code: int | None = None

    def holds(self, reaction: Reaction) -> bool:
        """Return True for a reaction of this kind."""
        return not self.fault(reaction)

    def __or__(self, other: Expectation) -> Expectation:
        return Expectation(
            text=f"{self.text}, or {other.text}",
            fault=lambda reaction: other.fault(reaction) and self.fault(reaction),
            connection=self.connection | other.connection,
            code=self.code,
        )


def answers(
    code: int | None = None, *, version: int | None = None, text: str = "", lacks: Lacks = None
) -> Expectation:
    """Expect an answer that can be read and is written as Kafka writes it.

    code: its first error, 0 for none anywhere; None for any. version: of its body, where it is not
    the request's. text: a further demand in words; lacks: returns what in a response is against
    it, such as `key 18 before key 3`, empty if nothing is.
    """

    assert not text or lacks, "a demand in words has evidence that names what is against it"

    def fault(reaction: Reaction) -> str:
        came = reaction_text(reaction)
        if reaction.decoded is None or reaction.problem:
            return came
        if code is not None and first_error(reaction.decoded.body) != code:
            return came
        if version is not None and reaction.decoded.version != version:
            return f"{came} in a body of v{reaction.decoded.version}"
        evidence = lacks(reaction.decoded.body) if lacks is not None else ""
        return f"{came}, {evidence}" if evidence else ""

    words = ["an answer"] if code is None else [error_text(code)]
    words += [f"in a body of v{version}"] if version is not None else []
    words += [text] if text else []
    return Expectation(text=" ".join(words), fault=fault, code=code)


Lacks = Callable[[Any], str] | None


def closes() -> Expectation:
    """Expect that the server ends the connection without an answer."""
    ends = frozenset({ConnectionState.CLOSED, ConnectionState.RESET})
    return Expectation(
        text="the connection is closed without an answer",
        fault=_fault_unless(
            lambda reaction: reaction.frame is None and reaction.connection in ends
        ),
        connection=ends,
    )


def stays_silent() -> Expectation:
    """Expect no answer, and a connection that stays open."""
    return Expectation(
        text="no answer, the connection stays open",
        fault=_fault_unless(
            lambda reaction: (
                reaction.frame is None and reaction.connection is ConnectionState.SILENT
            )
        ),
        connection=frozenset({ConnectionState.SILENT}),
    )


def _fault_unless(holds: Callable[[Reaction], bool]) -> Callable[[Reaction], str]:
    return lambda reaction: "" if holds(reaction) else reaction_text(reaction)


def error_codes(value: Any) -> Iterator[int]:
    """Yield each error code of a response: the whole's first, then its parts' in order."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from error_codes(item)
    elif isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        for name, content in fields.items():
            if name.endswith("error_code") and isinstance(content, int):
                yield content
        for content in fields.values():
            yield from error_codes(content)


def first_error(response: Response) -> int:
    """Return the first error code that is not 0, or 0."""
    return next(filter(None, error_codes(response)), 0)


def expect_error(response: Response, *codes: int, differs: tuple[int, ...] = ()) -> None:
    """Demand that the first error of a response is one of these. Raises Deviation.

    differs: legal ones, which Apache Kafka does not give.
    """
    came = first_error(response)
    if came in codes:
        return
    verdict = ConformanceVerdict.DIFFERS if came in differs else ConformanceVerdict.FAIL
    raise Deviation(" or ".join(map(error_text, codes)), error_text(came), verdict)


def expect_refused(response: Response, *codes: int) -> None:
    """Demand that a response has an error; one of these is Kafka's. Raises Deviation.

    For requests that no client sends: the code of the refusal is then nothing to rely on.
    """
    came = first_error(response)
    expect_error(response, *codes, differs=(came,) if came else ())


def demand_enabled(response: Response, what: str) -> None:
    """Raise Skipped for UNSUPPORTED_VERSION: the cluster's features do not enable an API yet.

    For an API whose versions do not tell whether its feature is enabled.
    """
    if first_error(response) == ErrorCode.UNSUPPORTED_VERSION:
        raise Skipped(f"the server has {what}, but they are not enabled")


def expect_operations(*fields: int) -> None:
    """Demand that fields of authorized operations have bits of operations only (KIP-430)."""
    allowed = sum(1 << operation for operation in AclOperation if operation > AclOperation.ALL)
    odd = [field for field in fields if field & ~allowed]
    expect(not odd, "bits of operations", odd)


def expect(holds: object, expected: str, came: object) -> None:
    """Demand that something holds; expected and came are for the report. Raises Deviation."""
    if not holds:
        raise Deviation(expected, str(came))


def expect_equal(
    what: str,
    came: object,
    *allowed: object,
    otherwise: ConformanceVerdict = ConformanceVerdict.FAIL,
) -> None:
    """Demand that a value is one of those allowed. Raises Deviation.

    otherwise: the verdict on others, DIFFERS where any is legal.
    """
    if came not in allowed:
        expected = " or ".join(map(as_sent, allowed))
        raise Deviation(f"{what} {expected}", f"{what} {came!r}", otherwise)


def as_sent(value: object) -> str:
    """Return a value as text, with error codes as the numbers that servers send."""
    return re.sub(r"<ErrorCode\.\w+: (-?\d+)>", r"\1", repr(value))


def judge(reaction: Reaction, expected: Expectation, differs: Expectation | None = None) -> None:
    """Demand a reaction. Raises Deviation: DIFFERS for one of the second kind, else FAIL."""
    came = expected.fault(reaction)
    if not came:
        return
    legal = differs is not None and differs.holds(reaction)
    verdict = ConformanceVerdict.DIFFERS if legal else ConformanceVerdict.FAIL
    is_broken = reaction.problem and ConnectionState.OPEN in expected.connection
    raise (BrokenAnswer if is_broken else Deviation)(expected.text, came, verdict)


def reaction_text(reaction: Reaction) -> str:
    """Return the reaction in words, with the first error code of its parts if it has no other."""
    body = reaction.body
    if body is None or reaction.problem or getattr(body, "error_code", None):
        return str(reaction)
    return f"{type(body).__name__} with {error_text(first_error(body))}"
