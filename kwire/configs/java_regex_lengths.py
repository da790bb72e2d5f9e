"""The longest text that a part of a regular expression of Java's matches, as Java counts it.

Pattern refuses a look-behind without "an obvious maximum length". Its sum is of 32 bits and counts
an open end as MAX_REPS, so that much without a maximum passes, and `ba*?` does not. The rules are
those of the methods `study` in java.util.regex.Pattern of Java 17.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_REPS = (1 << 31) - 1


class Length(NamedTuple):
    """TreeInfo: the longest text, whether there is one, and whether there is one way to match."""

    longest: int = 0
    is_bounded: bool = True
    is_deterministic: bool = True


_NOTHING = Length()


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a fixed length: a character, a position, a reference."""

    length: Length

    def study(self, before: Length) -> Length:
        """Return the length of this part behind another one."""
        return Length(
            _wrapped(before.longest + self.length.longest),
            before.is_bounded and self.length.is_bounded,
            before.is_deterministic and self.length.is_deterministic,
        )


@dataclass(frozen=True, slots=True)
class OptionalPart:
    """A part that may be left out; a group `(?>…)` if it may not."""

    part: Chain
    is_optional: bool = True

    def study(self, before: Length) -> Length:
        """Return the length of this part behind another one."""
        length = study(self.part, before)
        return length._replace(is_deterministic=length.is_deterministic and not self.is_optional)


@dataclass(frozen=True, slots=True)
class RepeatedPart:
    """A part that comes again and again."""

    part: Chain
    least: int
    most: int

    def study(self, before: Length) -> Length:
        """Return the length of this part behind another one."""
        length = study(self.part)
        longest = _wrapped(length.longest * self.most + before.longest)
        return Length(
            longest,
            before.is_bounded and length.is_bounded and longest >= before.longest,
            before.is_deterministic and length.is_deterministic and self.least == self.most,
        )


@dataclass(frozen=True, slots=True)
class Branch:
    """Alternatives."""

    parts: tuple[Chain, ...]


Chain = Sequence[Piece | OptionalPart | RepeatedPart | Branch]

POSITION = Piece(_NOTHING)
CHARACTER = Piece(Length(1))
LINE_END = Piece(Length(2))
GRAPHEME = Piece(Length(0, is_deterministic=False))
REFERENCE = Piece(Length(0, is_bounded=False))
RUN = Piece(Length(MAX_REPS, is_deterministic=False))
"""As many characters of one kind as there are: `a*` and `a+`."""
LOOP = Piece(Length(0, is_bounded=False, is_deterministic=False))
"""A group again and again that matches in more than one way."""


def study(chain: Chain, before: Length = _NOTHING) -> Length:
    """Return the length of a chain behind another one; what follows a branch is counted apart."""
    longest, is_bounded, is_deterministic = 0, True, True
    length = before
    for part in chain:
        if isinstance(part, Branch):
            studied = [study(alternative) for alternative in part.parts]
            longest += length.longest + max(each.longest for each in studied)
            is_bounded &= length.is_bounded and all(each.is_bounded for each in studied)
            is_deterministic = False
            length = _NOTHING
        else:
            length = part.study(length)
    return Length(
        _wrapped(longest + length.longest),
        is_bounded and length.is_bounded,
        is_deterministic and length.is_deterministic,
    )


def _wrapped(number: int) -> int:
    """Return a sum as Java's int."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)
