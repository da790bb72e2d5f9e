"""Patterns of text with `*` and `?`, matched in a time that grows as the text does.

Viewers send patterns and clients the texts, so neither may cost more than its length. Python's
`fnmatch` takes length times length for `*aaa…b`, and seconds to compile brackets.

1. The pattern is cut at each `*`. The first part must stand at the beginning, the last at the end.
2. Each part between is found from left to right: the first place is as good as any later one, so
   that nothing is ever tried again (as in Kurtz' and Myers' filename matchers).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Glob:
    """A pattern; call it with a text."""

    pattern: str

    @cached_property
    def is_plain(self) -> bool:
        """True if only one text matches."""
        return "*" not in self.pattern and "?" not in self.pattern

    @cached_property
    def cost(self) -> int:
        """Characters that may have to be compared at each place of a text."""
        return sum(len(part) for part in self._parts[1:-1] if "?" in part)

    @cached_property
    def _parts(self) -> list[str]:
        return self.pattern.split("*")

    @cached_property
    def _between(self) -> list[str | re.Pattern[str]]:
        return [_finder(part) for part in self._parts[1:-1] if part]

    def __call__(self, text: str) -> bool:
        """Return True if the whole text matches."""
        # 1.
        first, last = self._parts[0], self._parts[-1]
        if len(self._parts) == 1:
            return len(text) == len(first) and _stands(first, text, 0)
        start, end = len(first), len(text) - len(last)
        if start > end or not (_stands(first, text, 0) and _stands(last, text, end)):
            return False
        # 2.
        for part in self._between:
            if isinstance(part, str):
                found = text.find(part, start, end)
                if found < 0:
                    return False
                start = found + len(part)
            else:
                match = part.search(text, start, end)
                if match is None:
                    return False
                start = match.end()
        return True


def _finder(part: str) -> str | re.Pattern[str]:
    if "?" not in part:
        return part
    return re.compile(re.escape(part).replace(r"\?", "."), re.DOTALL)


def _stands(part: str, text: str, start: int) -> bool:
    if "?" not in part:
        return text.startswith(part, start)
    there = text[start : start + len(part)]
    return all(wanted in ("?", found) for wanted, found in zip(part, there, strict=True))
