"""Compares the values of a message's fields with a text of an expression."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar
from uuid import UUID

from kwire.proxy.flows.effort import Effort
from kwire.proxy.flows.glob import Glob
from kwire.text.ids import uuid_text

T = TypeVar("T")

NULL = "null"
"""The text that stands for a field that is not there."""


def fits(glob: Glob, text: str, effort: Effort) -> bool:
    """Return True if a text of a message matches a pattern. Raises TooMuch."""
    effort.read(len(text), glob.cost)
    return glob(text)


@dataclass(frozen=True, slots=True)
class FieldComparison:
    """A comparison with a text, read once as each of the types that a field can have.

    A text that is none of a type is None there, and unequal to all values of that type.
    """

    holds: Callable[[Any, Any], bool]
    glob: Glob
    truth: bool | None
    whole: int | None
    real: float | None

    @classmethod
    def of(cls, holds: Callable[[Any, Any], bool], text: str) -> Self:
        """Read the text."""
        truth = {"true": True, "false": False}.get(text.lower())
        return cls(holds, Glob(text), truth, _read(int, text), _read(float, text))

    def __call__(self, value: Any, effort: Effort) -> bool:
        """Return True if it holds for a value, in the value's type. Raises TooMuch."""
        text = self.glob.pattern
        if text == NULL or value is None:
            return self._is_equality and self.holds(value is None, text == NULL)
        match value:
            case bool():
                return self._with(value, self.truth)
            case int():
                return self._with(value, self.whole)
            case float():
                return self._with(value, self.real)
            case tuple():
                effort.look(len(value))
                return any(self(element, effort) for element in value)
            case UUID():
                return self._with_text(uuid_text(value), effort)
            case bytes():
                effort.read(2 * len(value))
                return self._with_text(value.hex(), effort)
        return self._with_text(value, effort)

    @property
    def _is_equality(self) -> bool:
        return self.holds in (operator.eq, operator.ne)

    def _with(self, value: Any, other: Any) -> bool:
        return self.holds is operator.ne if other is None else self.holds(value, other)

    def _with_text(self, value: str, effort: Effort) -> bool:
        if self._is_equality and not self.glob.is_plain:
            return fits(self.glob, value, effort) is (self.holds is operator.eq)
        return self.holds(value, self.glob.pattern)


def _read(kind: Callable[[str], T], text: str) -> T | None:
    try:
        return kind(text)
    except ValueError:
        return None
