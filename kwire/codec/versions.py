"""Sets of message versions, written as Kafka's schemas write them: `0-4`, `2+`, `3`, `none`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

OPEN = 0x7FFF
"""The end of an open range: the largest version that the int16 in a header can carry."""


class Versions:
    """An immutable set of versions, 0..32767; ranges may be joined with commas: `0,2-3`."""

    __slots__ = ("ranges",)

    def __init__(self, text: str) -> None:
        self.ranges = tuple(_range(part) for part in text.split(",") if part != "none")

    @classmethod
    def of(cls, versions: Iterable[int]) -> Versions:
        """Return the set of exactly these versions."""
        ranges: list[tuple[int, int]] = []
        for version in sorted(set(versions)):
            if ranges and ranges[-1][1] == version - 1:
                ranges[-1] = (ranges[-1][0], version)
            else:
                ranges.append((version, version))
        return cls(",".join(_text(first, last) for first, last in ranges) or "none")

    @property
    def first(self) -> int:
        """The lowest version; raise ValueError if empty."""
        return min(first for first, _ in self.ranges)

    @property
    def last(self) -> int:
        """The highest version; raise ValueError if empty."""
        return max(last for _, last in self.ranges)

    def __contains__(self, version: int) -> bool:
        return any(first <= version <= last for first, last in self.ranges)

    def __iter__(self) -> Iterator[int]:
        for first, last in self.ranges:
            yield from range(first, last + 1)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Versions) and self.ranges == other.ranges

    def __hash__(self) -> int:
        return hash(self.ranges)

    def __str__(self) -> str:
        return ",".join(_text(first, last) for first, last in self.ranges) or "none"

    def __repr__(self) -> str:
        return f"Versions({str(self)!r})"


def _range(text: str) -> tuple[int, int]:
    if text.endswith("+"):
        return int(text[:-1]), OPEN
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def _text(first: int, last: int) -> str:
    if last == OPEN:
        return f"{first}+"
    return str(first) if first == last else f"{first}-{last}"
