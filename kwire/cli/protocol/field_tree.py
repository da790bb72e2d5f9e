"""The tree of a message's fields, each with its type, versions and what it is for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from kwire.protocol.comparison import message_text
from kwire.protocol.field_comparison import field_text

if TYPE_CHECKING:
    from kwire.protocol import FieldFact, MessageFact

WIDE = 140
"""Columns from which descriptions stand beside the fields and not below them."""

INDENT = 4
"""Columns of a guide of rich's trees."""


def fields_tree(fact: MessageFact, width: int) -> Tree:
    """Return a tree to print on so many columns."""
    heading = f"{fact.name}: {message_text(fact)}, flexible {fact.flexible_versions}"
    tree = Tree(heading, style="bold", guide_style="not bold dim")
    if fact.description:
        tree.add(Text(fact.description, style="not bold dim"))
    column = max(_widths(fact.fields, INDENT), default=0)
    _grow(tree, fact.fields, column - INDENT if width >= WIDE else None)
    return tree


def _widths(fields: tuple[FieldFact, ...], indent: int) -> Iterator[int]:
    for field in fields:
        yield indent + _line(field).cell_len
        yield from _widths(field.fields, indent + INDENT)


def _grow(tree: Tree, fields: tuple[FieldFact, ...], column: int | None) -> None:
    """Add fields; column: where descriptions begin, None if they stand below."""
    for field in fields:
        inner = None if column is None else column - INDENT
        branch = tree.add(_label(field, column), style="not bold")
        _grow(branch, field.fields, inner)


def _label(field: FieldFact, column: int | None) -> Text | Table:
    described = Text(field.description or "", style="dim")
    if column is None:
        return Text("\n").join([_line(field), described])
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=column)
    grid.add_column()
    grid.add_row(_line(field), described)
    return grid


def _line(field: FieldFact) -> Text:
    type_name, _, rest = field_text(field).partition(", ")
    return Text.assemble(field.name, ": ", (type_name, "cyan"), f", {rest}")
