"""Draws a message, as the proxy's neutral tree, for people: small structs on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.messages.registry import api_name
from kwire.proxy.flows.text import MASKED
from kwire.text.untrusted import whole_number

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree as Drawing

    from kwire.proxy.flows.tree import Tree

INLINE = 72
"""Widest struct, in columns, that is drawn on one line."""


def draw(tree: Tree) -> Drawing:
    """Return the tree to print; its root is a title."""
    from rich.text import Text
    from rich.tree import Tree as Drawing

    drawing = Drawing(Text.assemble((tree.name, "bold"), f" {tree.value}"), guide_style="dim")
    for child in tree.children:
        _grow(drawing, child)
    return drawing


def _grow(drawing: Drawing, tree: Tree) -> None:
    from rich.text import Text

    line = inline(tree)
    if not tree.children:
        drawing.add(leaf(tree))
    elif line is not None:
        drawing.add(Text.assemble((tree.name, "bold"), "  ", line))
    else:
        value = (f" {tree.value}" if tree.value else "", "dim")
        branch = drawing.add(Text.assemble((tree.name, "bold"), value))
        for child in tree.children:
            _grow(branch, child)


def inline(tree: Tree) -> Text | None:
    """Return `name=x  port=9093`; None if that is too wide, or a child has children."""
    from rich.text import Text

    if tree.value or any(child.children for child in tree.children):
        return None
    line = Text("  ").join(
        Text.assemble(child.name, "=", (_value(child), _style(child))) for child in tree.children
    )
    return line if line.cell_len <= INLINE else None


def leaf(tree: Tree) -> Text:
    """Return `name: value`, with a colour for the kind of value."""
    from rich.text import Text

    return Text.assemble(tree.name, ": " if tree.value else "", (_value(tree), _style(tree)))


def _value(tree: Tree) -> str:
    """Return the value; for an API key with the API's name."""
    key = whole_number(tree.value, bits=15) if tree.name.endswith("api_key") else None
    return tree.value if key is None else f"{tree.value} {api_name(key)}"


def _style(tree: Tree) -> str:
    if tree.value in ("null", MASKED):
        return "dim"
    if tree.name.endswith("error_code"):
        return "green" if tree.value.startswith("0 ") else "bold red"
    return "green" if tree.value.startswith('"') else "cyan"
