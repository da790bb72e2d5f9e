"""Reads YAML as plain data in which every scalar is text, with the line of each value.

Names of topics and users are text whatever they look like (`no`, `1e3`), and so are numbers until
the model of the document asks for one. Anchors are refused: a few of them can stand for gigabytes.
"""

from __future__ import annotations

from collections.abc import Mapping
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

from kwire.text.yaml_file import BadFile

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})

DEPTH = 16
"""Levels of nesting; a document has five."""

Place = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""


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
    lines: dict[Place, int] = field(default_factory=dict)
    root: Any = None
    _stack: list[_Open] = field(default_factory=list)
    _place: list[str | int] = field(default_factory=list)

    def take(self, event: Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            raise BadFile(f"line {line}: anchors are not taken, write the value out")
        if isinstance(event, ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            self._begin({} if isinstance(event, MappingStartEvent) else [], line)
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._stack.pop()
            if self._stack:
                self._place.pop()

    def _scalar(self, event: ScalarEvent, line: int) -> None:
        if self._stack and self._stack[-1].takes_key:
            self._key(event.value, line)
            return
        is_null = event.implicit[0] and event.value in _NULLS
        self._add(None if is_null else event.value, line)
        if self._stack:
            self._place.pop()

    def _key(self, key: str, line: int) -> None:
        data = self._stack[-1].data
        if key in data:
            raise BadFile(f"line {line}: {key!r} is there twice, keep one of them")
        self._stack[-1].key = key

    def _begin(self, data: dict[str, Any] | list[Any], line: int) -> None:
        if self._stack and self._stack[-1].takes_key:
            raise BadFile(f"line {line}: a key is a text, not a list or a mapping")
        if len(self._stack) == DEPTH:
            raise _nested_too_deep(line)
        self._add(data, line)
        self._stack.append(_Open(data))

    def _add(self, value: Any, line: int) -> None:
        """Add a value to what is open, and step to its place."""
        if not self._stack:
            if self.root is not None:
                raise BadFile(f"line {line}: one file is one document, a second one begins here")
            self.root = value
            return
        above = self._stack[-1]
        if isinstance(above.data, dict):
            assert above.key is not None, "a key comes before its value"
            self._place.append(above.key)
            above.data[above.key], above.key = value, None
        else:
            self._place.append(len(above.data))
            above.data.append(value)
        self.lines[tuple(self._place)] = line


def read_yaml_texts(text: str) -> tuple[Any, Mapping[Place, int]]:
    """Return the data of a text and the line of each value.

    Raises BadFile, which names the line.
    """
    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except yaml.YAMLError as error:
        raise _bad_file(error) from error
    return reader.root, reader.lines


def _bad_file(error: yaml.YAMLError) -> BadFile:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    # libyaml looks ahead, and since PyYAML 6.0.4 not by more than a thousand levels.
    if mark and "maximum nesting depth" in str(error):
        return _nested_too_deep(mark.line + 1)
    return BadFile(f"this is no YAML: {' '.join(str(error).split())}")


def _nested_too_deep(line: int) -> BadFile:
    return BadFile(f"line {line}: the YAML is nested too deep")
