"""A section of the report: a finding, how to read it, its figures and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of the page. rows: text, as it came over the wire; the page escapes it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section. topic: its name in the navigation. finding: its heading, a sentence.

    reading: how to read the figures. figures: of plotly; empty if there is nothing to show.
    """

    topic: str
    finding: str
    reading: str = ""
    figures: Sequence[Any] = ()
    grids: Sequence[Grid] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """The id of the section in the page."""
        return self.topic.lower().replace(" ", "-")
