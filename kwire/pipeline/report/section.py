"""A section of the report: a finding, how to read it, its figures and its tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from io import StringIO
from itertools import zip_longest
from typing import Any
from urllib.parse import quote

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", *"\uff1d\uff0b\uff0d\uff20")
"""Begins of a cell that a spreadsheet takes for a formula; the last four are wide forms."""

NUMBER = re.compile(r"-|[+-]?[\d,]+(\.\d+)?( ?%)?")


@dataclass(frozen=True, slots=True)
class FigureTable:
    """The rows of a figure, to be downloaded. name: of the file. rows: as they are."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @property
    def file_name(self) -> str:
        """A plain name: letters, digits and hyphens."""
        return f"{slug(self.name)}.csv"

    @property
    def link(self) -> str:
        """A `data:` URI, which needs no script and works in a page that was opened as a file."""
        return f"data:text/csv;charset=utf-8,{quote(self.csv(), safe='')}"

    def csv(self) -> str:
        """Return CSV in UTF-8 with a mark that spreadsheets look for."""
        text = StringIO()
        writer = csv.writer(text)
        writer.writerow(_cell(name) for name in self.columns)
        writer.writerows([_cell(value) for value in row] for row in self.rows)
        return "\ufeff" + text.getvalue()


def _cell(value: Any) -> Any:
    """Return a value for CSV; text that a spreadsheet would calculate gets an apostrophe."""
    if isinstance(value, datetime):
        return f"{value.isoformat()}Z"
    if not isinstance(value, str):
        return value
    is_number = NUMBER.fullmatch(value) is not None
    return f"'{value}" if value.lstrip(" ").startswith(FORMULA) and not is_number else value


def slug(text: str) -> str:
    """Return text as letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of the page. rows: text, as it came over the wire; the page escapes it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def table(self) -> FigureTable:
        """The same rows, to be downloaded."""
        return FigureTable(self.title, self.columns, self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section. topic: its name in the navigation. finding: its heading, a sentence.

    reading: how to read the figures. figures: of plotly; empty if there is nothing to show.
    tables: what each of the figures was drawn from, in their order. cluster: empty if the page has
    only one.
    """

    topic: str
    finding: str
    reading: str = ""
    figures: Sequence[Any] = ()
    tables: Sequence[FigureTable] = ()
    grids: Sequence[Grid] = field(default_factory=list)
    cluster: str = ""

    @property
    def anchor(self) -> str:
        """The id of the section in the page."""
        return slug(f"{self.topic} {self.cluster}")

    @property
    def title(self) -> str:
        """Its topic, and the cluster that it is of."""
        return f"{self.topic} \u00b7 {self.cluster}" if self.cluster else self.topic

    def file_name(self, table: FigureTable) -> str:
        """Return the name of a table's file: those of clusters lie in one folder of downloads."""
        return f"{slug(self.cluster)}-{table.file_name}" if self.cluster else table.file_name

    @property
    def pictures(self) -> Iterator[tuple[Any, FigureTable | None]]:
        """Each figure with its table."""
        return zip_longest(self.figures, self.tables[: len(self.figures)])
