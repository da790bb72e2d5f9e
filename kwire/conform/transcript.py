"""The bytes that a check sent and received, for the report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kwire.conform.reaction import Reaction

KEPT = 64 * 1024
"""Bytes of one chunk that the report has; what is beyond is counted only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Bytes in one direction. peer: `host:port`. size: of all of them, data may be cut.

    A token of a login with the user's own credentials has a size only. is_probe: True for what is
    said after a check, to see what became of its connection.
    """

    sent: bool
    peer: str
    data: bytes
    size: int
    is_probe: bool = False


@dataclass(slots=True)
class Transcript:
    """All chunks of a check in order, of all its connections.

    is_private: True while a user's password goes over the wire: then only sizes are kept. probes:
    True once the check is over. last_answer: the reaction to the last request, None before it.
    """

    chunks: list[Chunk] = field(default_factory=list)
    is_private: bool = False
    probes: bool = False
    last_answer: Reaction | None = None

    def add(self, peer: str, data: bytes, *, sent: bool) -> None:
        """Keep a chunk. Bytes that follow others in the same direction stay chunks of their own."""
        kept = b"" if self.is_private else data[:KEPT]
        chunk = Chunk(sent=sent, peer=peer, data=kept, size=len(data), is_probe=self.probes)
        self.chunks.append(chunk)

    @contextmanager
    def private(self) -> Iterator[None]:
        """Keep only sizes inside the block."""
        self.is_private = True
        try:
            yield
        finally:
            self.is_private = False
