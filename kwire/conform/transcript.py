"""The bytes that a check sent and received, for the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    said after a check, to see what became of its connection. silent: seconds in which nothing came,
    or no more of it; then there are no bytes.
    """

    sent: bool
    peer: str
    data: bytes
    size: int
    is_probe: bool = False
    silent: float = 0.0


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

    def add_silence(self, peer: str, seconds: float) -> None:
        """Keep that nothing came for so long."""
        self.chunks.append(
            Chunk(sent=False, peer=peer, data=b"", size=0, is_probe=self.probes, silent=seconds)
        )

    @property
    def last_wait(self) -> str:
        """The last silence in words, with what it followed; empty if something came last."""
        if not self.chunks or not self.chunks[-1].silent:
            return ""
        end = self.chunks[-1]
        sent = sum(chunk.size for chunk in _sent_since_answer(self.chunks, end.peer))
        return f"within {end.silent:.3g} s after {sent} bytes"

    @contextmanager
    def private(self) -> Iterator[None]:
        """Keep only sizes inside the block."""
        self.is_private = True
        try:
            yield
        finally:
            self.is_private = False


def _sent_since_answer(chunks: Iterable[Chunk], peer: str) -> list[Chunk]:
    """Return the chunks that were sent to a peer since its last answer."""
    sent: list[Chunk] = []
    for chunk in chunks:
        if chunk.peer == peer and not chunk.silent:
            sent = [*sent, chunk] if chunk.sent else []
    return sent
