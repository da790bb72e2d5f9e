"""Differences between two things, as `kwire diff` and `kwire protocol diff` print them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import typer

from kwire.cli.errors import error_sentence
from kwire.cli.output import Output, Table, error_document, text_columns

if TYPE_CHECKING:
    from enum import Enum

TROUBLE = 2
"""The exit code where nothing could be compared, as diff(1) has it."""

_COLUMNS = (*text_columns("change", "section", "name", "field", "old", "new"),)


class KeyDifference(Protocol):
    """One value that differs. field: empty where the whole thing was added or removed."""

    @property
    def change(self) -> Enum: ...
    @property
    def section(self) -> Enum: ...
    @property
    def name(self) -> str: ...
    @property
    def field(self) -> str: ...
    @property
    def old(self) -> Any: ...
    @property
    def new(self) -> Any: ...


def differences_table(differences: Iterable[KeyDifference], facts: Mapping[str, Any]) -> Table:
    """Return the table, a row for each difference. facts: what a document has besides."""
    rows = [
        {
            "change": difference.change.value,
            "section": difference.section.value,
            "name": difference.name,
            "field": difference.field or None,
            "old": difference.old,
            "new": difference.new,
        }
        for difference in differences
    ]
    return Table("differences", _COLUMNS, rows, key="name", facts=facts)


def end_in_trouble(error: Exception, output: Output) -> NoReturn:
    """Print an error and exit with TROUBLE: code 1 says that the two were compared."""
    if output.is_document:
        output.print_document(error_document(error))
    typer.secho(f"Error: {error_sentence(error)}", fg="red", err=True)
    raise typer.Exit(TROUBLE) from error
