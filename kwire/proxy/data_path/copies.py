"""Copies of tapped frames while they pass, within a limit for each frame and one for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

COPY_LIMIT = 4 * 1024 * 1024
"""Bytes of one frame that are copied by default; the rest of a longer one only passes."""

MEMORY_LIMIT = 64 * 1024 * 1024
"""Bytes that all unfinished copies of a proxy may hold by default."""

NO_ROOM = "not copied: the memory for copies is used up"
"""The problem of a flow whose copy was given up."""


class Copies:
    """The memory that copies share, from a frame's first byte until its flow has ended.

    held: bytes in use. dropped: copies given up because the limit was reached. shares: bytes in use
    by clients' addresses, of what `RequestShare` counts.
    """

    __slots__ = ("copy_limit", "dropped", "held", "memory_limit", "shares")

    def __init__(self, copy_limit: int = COPY_LIMIT, memory_limit: int = MEMORY_LIMIT) -> None:
        self.memory_limit = memory_limit
        self.copy_limit = copy_limit
        self.held = 0
        self.dropped = 0
        self.shares: dict[str, int] = {}

    def take(self, size: int, leave: int = 0) -> bool:
        """Take room, and leave so many bytes to others; return False if there is none left."""
        if self.held + size > self.memory_limit - leave:
            return False
        self.held += size
        return True

    def give_up(self, problems: list[str]) -> None:
        """Count a copy for which somebody else found no room, as a problem of its flow."""
        self.dropped += 1
        problems.append(NO_ROOM)

    def give_back(self, size: int) -> None:
        """Give room back."""
        self.held -= size


class RequestShare:
    """The part of the memory for held frames that requests of one connection may take.

    A client decides how long its requests are, and how slowly they come: a longest one has a
    quarter of the memory, and all of one address have half, so that no single one has it all.
    address: returns that of the client, whose connection may not be there yet.
    """

    __slots__ = ("_address", "_memory")

    def __init__(self, memory: Copies, address: Callable[[], str]) -> None:
        self._memory = memory
        self._address = address

    @property
    def copy_limit(self) -> int:
        """Bytes of the longest frame."""
        return min(self._memory.copy_limit, self._memory.memory_limit // 4)

    def take(self, size: int, leave: int = 0) -> bool:
        """Take room; return False if there is none left, or none for this address."""
        shares, address = self._memory.shares, self._address()
        taken = shares.get(address, 0) + size
        if taken > self._memory.memory_limit // 2 or not self._memory.take(size, leave):
            return False
        shares[address] = taken
        return True

    def give_back(self, size: int) -> None:
        """Give room back."""
        self._memory.give_back(size)
        shares, address = self._memory.shares, self._address()
        left = shares.pop(address, 0) - size
        if left:
            shares[address] = left


class Copy:
    """The copy of one frame, piece by piece as it passes, without the size that precedes it."""

    __slots__ = ("_copies", "_pieces", "_room", "_size", "dropped")

    def __init__(self, copies: Copies) -> None:
        self._copies = copies
        self._pieces: list[bytes] = []
        self._room = copies.copy_limit
        self._size = 0
        self.dropped = False

    @classmethod
    def begun(cls, copies: Copies, data: bytes) -> Self:
        """Return a copy that begins with `data`, the bytes behind the size of its frame."""
        copy = cls(copies)
        copy.add(b"\0\0\0\0" + data, 0, 4 + len(data))
        return copy

    def add(self, chunk: bytes, start: int, end: int) -> None:
        """Add chunk[start:end] of the frame, whose size, at its beginning, is left out."""
        if not self._pieces:
            start += 4
        piece = chunk[start : min(end, start + self._room)]
        if self.dropped or (self._pieces and not piece):
            return
        if self._copies.take(len(piece)):
            # A slice is a copy: the chunk itself, up to 1 MiB, must not be kept alive by it.
            self._pieces.append(piece)
            self._room -= len(piece)
            self._size += len(piece)
        else:
            self._drop()

    def finish(self) -> bytes | None:
        """Return the copy so far, None if it was dropped; the caller gives its room back."""
        pieces = self._pieces
        return None if self.dropped else pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def abandon(self) -> None:
        """Give its room back: the frame will not end."""
        if not self.dropped:
            self._copies.give_back(self._size)

    def cut(self) -> None:
        """Copy no more: the bytes behind these are missing."""
        self._room = 0

    def _drop(self) -> None:
        self._copies.give_back(self._size)
        self._copies.dropped += 1
        # Not empty, so that a further piece is not taken for the first.
        self._pieces = [b""]
        self.dropped = True
