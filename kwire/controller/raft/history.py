"""Values by the offset of the record that set them, uncommitted ones too."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """A value, in force from `offset` on."""

    offset: int
    value: T


class History(Generic[T]):
    """What a kind of control record said, from the latest snapshot to the end of the log."""

    def __init__(self) -> None:
        self._entries: list[Entry[T]] = []

    def add(self, offset: int, value: T) -> None:
        """A record at `offset`, which is behind all others, or takes the place of the last."""
        self.truncate(offset)
        self._entries.append(Entry(offset, value))

    @property
    def last(self) -> Entry[T] | None:
        """What is in force at the end of the log."""
        return self._entries[-1] if self._entries else None

    def at(self, offset: int) -> T | None:
        """What is in force at `offset`, the record there included."""
        index = bisect_right(self._entries, offset, key=_offset)
        return self._entries[index - 1].value if index else None

    def truncate(self, end_offset: int) -> None:
        """Forget what records from `end_offset` on said."""
        del self._entries[bisect_left(self._entries, end_offset, key=_offset) :]

    def forget_before(self, offset: int) -> None:
        """Keep what is in force at `offset` and later."""
        del self._entries[: max(0, bisect_right(self._entries, offset, key=_offset) - 1)]

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()


def _offset(entry: Entry[T]) -> int:
    return entry.offset
