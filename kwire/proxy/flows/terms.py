"""The terms of the filter language: each makes a test out of its text.

A test answers True, False, or None where the message at hand cannot tell: `~err` of a request.
Static, of an API and a version alone, None means that it depends on the message.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kwire.codec.versions import Versions
from kwire.error_codes import ErrorCode
from kwire.errors import InvalidValue
from kwire.messages.index import APIS
from kwire.proxy.flows.field_comparison import NULL, FieldComparison, fits
from kwire.proxy.flows.field_paths import check_field
from kwire.proxy.flows.glob import Glob
from kwire.proxy.flows.match_target import MatchTarget
from kwire.proxy.flows.walk import RECORDS_FIELDS
from kwire.text.untrusted import cut_repr, did_you_mean, whole_number

Test = Callable[[MatchTarget], bool | None]
Static = Callable[[int, int], bool | None]
Find = Callable[[MatchTarget], Iterable[tuple[str, Any]]]

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
LOOK = 10
"""The cost of reading all fields or topics of a message."""

_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_BYTES = {"": 1, "b": 1, "kb": 1000, "kib": 1024, "mb": 1000**2, "mib": 1024**2}
_AMOUNT = re.compile(r"(==|!=|<=|>=|<|>)?(\d+(?:\.\d+)?)([A-Za-z]*)")
_RANGE = re.compile(r"\d{1,5}(-\d{1,5}|\+)?(,\d{1,5}(-\d{1,5}|\+)?)*")


@dataclass(frozen=True, slots=True)
class TermTest:
    """The test of a term. needs_response: only a response, or a flow that has ended, can tell.

    cost: characters that may be compared at each place of a text, see Glob, and LOOK for each look
    at all fields or topics of a message, of which there may be a million. find: yields name and
    value of what made it match.
    """

    test: Test
    static: Static
    needs_response: bool = False
    cost: int = 0
    find: Find = lambda target: ()


def term_test(term: str, text: str) -> TermTest:
    """Return the test of `~term text`. Raises InvalidValue if the text does not fit the term."""
    return TERMS[term](text)


def field_test(path: str, compare: str, text: str) -> TermTest:
    """Return the test of `path==text`. Raises InvalidValue if no message has such a field."""
    check_field(path)
    if path.rpartition(".")[2] in RECORDS_FIELDS and (compare not in ("==", "!=") or text != NULL):
        raise InvalidValue(f"records are not compared as text: only {path}==null and {path}!=null")
    comparison = FieldComparison.of(COMPARE[compare], text)

    name = path.rpartition(".")[2]

    def find(target: MatchTarget) -> Iterator[tuple[str, Any]]:
        values = (value for layer in target.layers for value in layer.values(path))
        return ((name, value) for value in values if comparison(value, target.effort))

    cost = LOOK + comparison.glob.cost
    return TermTest(_is_found(find), _depends, path.startswith("response."), cost, find)


def _is_found(find: Find) -> Test:
    return lambda target: any(True for _ in find(target))


def _depends(key: int, version: int) -> bool | None:
    return None


def _api(text: str) -> TermTest:
    keys: set[int] = set()
    for pattern in text.split(","):
        glob = Glob(pattern.lower())
        named = [key for key, name in APIS.items() if glob(name.lower())]
        if not named:
            hint = did_you_mean(pattern, APIS.values())
            raise InvalidValue(f"no API is called {cut_repr(pattern)}{hint}")
        keys.update(named)
    return _static(lambda key, version: key in keys)


def _key(text: str) -> TermTest:
    keys = _ranges(text, "an API key")
    return _static(lambda key, version: key in keys)


def _version(text: str) -> TermTest:
    versions = _ranges(text, "a version")
    return _static(lambda key, version: version in versions)


def _static(static: Callable[[int, int], bool]) -> TermTest:
    def test(target: MatchTarget) -> bool:
        return any(static(layer.flow.key, layer.flow.version) for layer in target.layers)

    return TermTest(test, static)


def _ranges(text: str, what: str) -> Versions:
    if not _RANGE.fullmatch(text):
        raise InvalidValue(f"{cut_repr(text)} is not {what}: write 4, 4-17, 4+ or 4,7")
    return Versions(text)


def _client(text: str) -> TermTest:
    glob = Glob(text)

    def test(target: MatchTarget) -> bool:
        ids = (layer.flow.client_id or "" for layer in target.layers)
        return any(fits(glob, client_id, target.effort) for client_id in ids)

    return TermTest(test, _depends, cost=glob.cost)


def _node(text: str) -> TermTest:
    matches = _nodes(text)
    return TermTest(
        lambda target: matches(target.peer) or matches(target.flow.connection.node_id), _depends
    )


def _from(text: str) -> TermTest:
    matches = _nodes(text)
    return TermTest(lambda target: matches(target.peer), _depends)


def _to(text: str) -> TermTest:
    matches = _nodes(text)
    return TermTest(lambda target: matches(target.flow.connection.node_id), _depends)


def _connection(text: str) -> TermTest:
    matches = _numbers(text, "number of a connection: write 7, 7,9 or 7-12")
    return TermTest(lambda target: matches(target.flow.connection.number), _depends)


def _nodes(text: str) -> Callable[[int | None], bool]:
    return _numbers(text, "node id: write 3000, 3000,3001 or 3000-3002")


def _numbers(text: str, wanted: str) -> Callable[[int | None], bool]:
    """Return a test of numbers: 3000, 3000,3001 or 3000-3002."""
    ranges = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        least = whole_number(first, bits=31)
        most = whole_number(last, bits=31) if dash else least
        if least is None or most is None or most < least:
            raise InvalidValue(f"{cut_repr(part)} is no {wanted}")
        ranges.append(range(least, most + 1))

    def matches(node: int | None) -> bool:
        return node is not None and any(node in node_range for node_range in ranges)

    return matches


def _error(text: str) -> TermTest:
    codes = None if text == "*" else frozenset(_code(code) for code in text.split(","))

    def test(target: MatchTarget) -> bool | None:
        if target.response is None and target.flow.answered is None:
            return None
        errors = frozenset(code for layer in target.layers for code in layer.errors)
        return bool(errors) if codes is None else bool(errors & codes)

    def find(target: MatchTarget) -> Iterator[tuple[str, int]]:
        errors = sorted({code for layer in target.layers for code in layer.errors})
        return (("error_code", code) for code in errors if codes is None or code in codes)

    return TermTest(test, _depends, needs_response=True, find=find)


def _code(text: str) -> int:
    if re.fullmatch(r"-?\d{1,5}", text):
        return int(text)
    try:
        return ErrorCode[text.upper()].value
    except KeyError:
        hint = did_you_mean(text.upper(), ErrorCode.__members__)
        raise InvalidValue(f"no error of Kafka's is called {cut_repr(text)}{hint}") from None


def _latency(text: str) -> TermTest:
    holds, amount = _amount(text, _SECONDS, "a time such as >100ms")

    def test(target: MatchTarget) -> bool | None:
        latency = target.flow.latency
        return None if latency is None else holds(latency, amount)

    return TermTest(test, _depends, needs_response=True)


def _answered(target: MatchTarget) -> bool:
    return target.flow.answered is not None


def _size(text: str) -> TermTest:
    holds, amount = _amount(text, _BYTES, "a size such as >1MiB")

    def find(target: MatchTarget) -> Iterator[tuple[str, int]]:
        return (("size", size) for size in (target.size,) if holds(size, amount))

    return TermTest(_is_found(find), _depends, find=find)


def _amount(
    text: str, units: dict[str, Any], what: str
) -> tuple[Callable[[Any, Any], bool], float]:
    match = _AMOUNT.fullmatch(text)
    if match is None or match[3].lower() not in units:
        raise InvalidValue(f"{cut_repr(text)} is not {what}")
    return COMPARE[match[1] or ">="], float(match[2]) * units[match[3].lower()]


def _subject(kind: str) -> Callable[[str], TermTest]:
    """Return the term of an attribute of MatchTarget: `topics`, `groups` and their like."""
    subject = kind.removesuffix("s")

    def term(text: str) -> TermTest:
        glob = Glob(text)

        def find(target: MatchTarget) -> Iterator[tuple[str, str]]:
            if glob.is_plain:
                found = (text for layer in target.layers if text in getattr(layer, kind))
            else:
                names = (name for layer in target.layers for name in getattr(layer, kind))
                found = (name for name in names if fits(glob, name, target.effort))
            return ((subject, name) for name in found)

        cost = 0 if glob.is_plain else LOOK + glob.cost
        return TermTest(_is_found(find), _depends, cost=cost, find=find)

    return term


TERMS: dict[str, Callable[[str], TermTest]] = {
    "~api": _api,
    "~key": _key,
    "~v": _version,
    "~client": _client,
    "~node": _node,
    "~from": _from,
    "~to": _to,
    "~connection": _connection,
    "~err": _error,
    "~lat": _latency,
    "~topic": _subject("topics"),
    "~partition": _subject("partitions"),
    "~group": _subject("groups"),
    "~transaction": _subject("transactions"),
    "~size": _size,
}

FLAGS = {"~response": TermTest(_answered, _depends, needs_response=True)}
"""The terms that take no text."""
