"""Values by the offset of the record that set them, uncommitted ones too (Java: LogHistory)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LogHistoryEntry(Generic[T]):
    """A value, in force from `offset` on."""

    offset: int
    value: T


class LogHistory(Generic[T]):
    """The values of one kind of control record, from the latest snapshot to the end of the log."""

    def __init__(self) -> None:
        self._entries: list[LogHistoryEntry[T]] = []

    def add(self, offset: int, value: T) -> None:
        """Add the value of a record at `offset`, after all others or in place of the last."""
        self.truncate(offset)
        self._entries.append(LogHistoryEntry(offset, value))

    @property
    def last(self) -> LogHistoryEntry[T] | None:
        """The value in force at the end of the log."""
        return self._entries[-1] if self._entries else None

    def at(self, offset: int) -> T | None:
        """Return the value in force at `offset`, the record there included."""
        index = bisect_right(self._entries, offset, key=_offset)
        return self._entries[index - 1].value if index else None

    def truncate(self, end_offset: int) -> None:
        """Forget the values of records from `end_offset` on."""
        del self._entries[bisect_left(self._entries, end_offset, key=_offset) :]

    def forget_before(self, offset: int) -> None:
        """Forget all values but that in force at `offset` and later ones."""
        del self._entries[: max(0, bisect_right(self._entries, offset, key=_offset) - 1)]

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()


def _offset(entry: LogHistoryEntry[T]) -> int:
    return entry.offset
