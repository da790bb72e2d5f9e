"""The fields of a message in one release as a tree, each with its type and its versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.protocol.comparison import message_text
from kwire.protocol.field_comparison import field_text

if TYPE_CHECKING:
    from rich.tree import Tree

    from kwire.protocol import FieldFact, MessageFact


def fields_tree(fact: MessageFact) -> Tree:
    """Return a tree to print."""
    from rich.text import Text
    from rich.tree import Tree

    heading = f"{fact.name}: {message_text(fact)}, flexible {fact.flexible_versions}"
    tree = Tree(heading, style="bold", guide_style="not bold dim")
    if fact.description:
        tree.add(Text(fact.description, style="not bold dim"))
    _grow(tree, fact.fields)
    return tree


def _grow(tree: Tree, fields: tuple[FieldFact, ...]) -> None:
    from rich.text import Text

    for field in fields:
        type_name, _, rest = field_text(field).partition(", ")
        line = Text.assemble(field.name, ": ", (type_name, "cyan"), f", {rest}")
        _grow(tree.add(line, style="not bold"), field.fields)
