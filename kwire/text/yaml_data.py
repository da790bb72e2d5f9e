"""The one reader of YAML: bounded data from parser events, with the line of each value.

Anchors, aliases and tags are refused: a few of them can stand for gigabytes. Size, depth and the
number of values are counted event by event, so that nothing beyond the bounds is ever built. A key
is text, whatever it looks like, and stands once in a mapping.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from kwire.errors import InvalidValue
from kwire.text.untrusted import cut_repr

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_QUOTES = "a text that begins with ! needs quotes around it"
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})

LONGEST_NUMBER = 64
"""Characters; a longer scalar is text. A number in base 60 as 1:1:1… takes minutes otherwise."""

LEAST, MOST = -(1 << 63), (1 << 64) - 1
"""The numbers that MessagePack has: what a viewer adds must reach the others. The rest is text."""

ValuePath = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""


class BadYaml(InvalidValue):
    """A text that is no YAML, or exceeds its bounds; the sentence has the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The most that a text may have: characters, levels of nesting, and values with their keys."""

    characters: int
    depth: int
    values: int


FILE_BOUNDS = Bounds(characters=1_000_000, depth=16, values=100_000)
"""Of a file that a person wrote: a service's configuration, rules, expectations."""

COMMAND_BOUNDS = Bounds(characters=8192, depth=8, values=500)
"""Of what a viewer sends, or an option has: one rule, one value. It is read in the event loop."""


def plain_value(event: ScalarEvent) -> Any:
    """Return a scalar as YAML 1.1 means it: null, a truth value, a number, else text.

    A date is text, since no field of kwire has one.
    """
    text: str = event.value
    if not event.implicit[0] or len(text) > LONGEST_NUMBER:
        return text
    if text in _NULLS:
        return None
    for tag, pattern in yaml.SafeLoader.yaml_implicit_resolvers.get(text[0], ()):
        if pattern.match(text) and tag in _CONSTRUCTORS:
            with suppress(ValueError):  # 0b_ has the form of a number, and no digit
                value = _CONSTRUCTORS[tag](yaml.ScalarNode(tag, text))
                return text if isinstance(value, int) and not LEAST <= value <= MOST else value
    return text


def text_or_null(event: ScalarEvent) -> str | None:
    """Return a scalar as text whatever it looks like, `no` and `1e3`; null is None."""
    return None if event.implicit[0] and event.value in _NULLS else event.value


_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_CONSTRUCTORS: dict[str, Callable[[yaml.ScalarNode], Any]] = {
    "tag:yaml.org,2002:bool": _CONSTRUCTOR.construct_yaml_bool,
    "tag:yaml.org,2002:int": _CONSTRUCTOR.construct_yaml_int,
    "tag:yaml.org,2002:float": _CONSTRUCTOR.construct_yaml_float,
}


@dataclass(slots=True)
class _Open:
    """A mapping or a list that is not at its end yet, and the key that waits for its value."""

    data: dict[str, Any] | list[Any]
    key: str | None = None

    @property
    def takes_key(self) -> bool:
        return isinstance(self.data, dict) and self.key is None


@dataclass(slots=True)
class _Reader:
    scalar: Callable[[ScalarEvent], Any]
    bounds: Bounds
    lines: dict[ValuePath, int] = field(default_factory=dict)
    root: Any = None
    _count: int = 0
    _stack: list[_Open] = field(default_factory=list)
    _path: list[str | int] = field(default_factory=list)

    def take(self, event: Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            raise BadYaml(f"line {line}: anchors are not taken, write the value out")
        tag: str | None = getattr(event, "tag", None)
        if tag:
            raise BadYaml(
                f"line {line}: {cut_repr(tag)} is a tag, and tags are not taken; {_QUOTES}"
            )
        if isinstance(event, ScalarEvent):
            self._counted(line)
            self._scalar(event, line)
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            self._counted(line)
            self._begin({} if isinstance(event, MappingStartEvent) else [], line)
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._stack.pop()
            if self._stack:
                self._path.pop()

    def _counted(self, line: int) -> None:
        self._count += 1
        if self._count > self.bounds.values:
            raise BadYaml(f"line {line}: more than {self.bounds.values} values are too many")

    def _scalar(self, event: ScalarEvent, line: int) -> None:
        if self._stack and self._stack[-1].takes_key:
            self._key(event.value, line)
            return
        self._add(self.scalar(event), line)
        if self._stack:
            self._path.pop()

    def _key(self, key: str, line: int) -> None:
        if key in self._stack[-1].data:
            raise BadYaml(f"line {line}: {cut_repr(key)} is there twice, keep one of them")
        self._stack[-1].key = key

    def _begin(self, data: dict[str, Any] | list[Any], line: int) -> None:
        if self._stack and self._stack[-1].takes_key:
            raise BadYaml(f"line {line}: a key is a text, not a list or a mapping")
        if len(self._stack) == self.bounds.depth:
            raise _nested_too_deep(line)
        self._add(data, line)
        self._stack.append(_Open(data))

    def _add(self, value: Any, line: int) -> None:
        """Add a value to the innermost open mapping or list; the path leads to it from now on."""
        if not self._stack:
            if self._count > 1:
                raise BadYaml(f"line {line}: one file is one document, a second one begins here")
            self.root = value
            return
        above = self._stack[-1]
        if isinstance(above.data, dict):
            assert above.key is not None, "a key comes before its value"
            self._path.append(above.key)
            above.data[above.key], above.key = value, None
        else:
            self._path.append(len(above.data))
            above.data.append(value)
        self.lines[tuple(self._path)] = line


def read_yaml_data(
    text: str,
    bounds: Bounds = FILE_BOUNDS,
    scalar: Callable[[ScalarEvent], Any] = plain_value,
) -> tuple[Any, Mapping[ValuePath, int]]:
    """Return the data of a text, None if it has none, and the line of each value.

    scalar: makes a value of each scalar. Raises BadYaml.
    """
    if len(text) > bounds.characters:
        raise BadYaml(f"more than {bounds.characters} characters are too many")
    reader = _Reader(scalar, bounds)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except (yaml.YAMLError, UnicodeError) as error:
        raise _bad_yaml(error, text) from error
    return reader.root, reader.lines


def _bad_yaml(error: Exception, text: str) -> BadYaml:
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        # A character that YAML does not allow.
        reason = " ".join(str(error).replace(' in "<unicode string>"', "").split())
        return BadYaml(f"this is no YAML: {reason}")
    line, column = error.problem_mark.line + 1, error.problem_mark.column + 1
    # libyaml looks ahead, and since PyYAML 6.0.4 not by more than a thousand levels.
    if "maximum nesting depth" in str(error):
        return _nested_too_deep(line)
    hint = f"; {_QUOTES}" if re.search(r":\s*!", text) else ""
    return BadYaml(f"this is no YAML: {error.problem}, line {line}, column {column}{hint}")


def _nested_too_deep(line: int) -> BadYaml:
    return BadYaml(f"line {line}: the YAML is nested too deep")
