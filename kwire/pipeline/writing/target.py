"""Tells tasks what an ingest writes, and where."""

from __future__ import annotations

from dataclasses import dataclass

WITH_BODIES = frozenset({"messages", "quorum"})
"""Tables that need the content of messages: JSON is half of the cost of decoding."""


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """The tables that are written, and their place.

    output: of the tables. staging: folder for requests and responses without the other; waiting:
    for those that wait for the next batch of a stream.
    """

    output: str
    ingest: str
    tables: tuple[str, ...]
    staging: str
    waiting: str = ""

    @property
    def bodies(self) -> bool:
        """True if the content of messages is needed."""
        return bool(WITH_BODIES & set(self.tables))
