"""The two kinds of nodes of the tree (org.apache.kafka.image.node.MetadataNode)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kwire.shell.values import text_of


@dataclass(frozen=True, slots=True)
class ValueNode:
    """A value: what JSON has of it; `text` has it as Kafka's shell prints it."""

    value: Any

    @property
    def text(self) -> str:
        """Return the text of Kafka's shell."""
        return text_of(self.value)


@dataclass(frozen=True, slots=True)
class FolderNode:
    """Children by name. Neither names nor children exist before they are asked for.

    names: yields them in any order. child: returns None for a name that is not there.
    """

    names: Callable[[], Iterable[str]]
    child: Callable[[str], TreeNode | None]

    def sorted_names(self) -> list[str]:
        """Return the names in the order of Kafka's shell: by character, so that 10 precedes 2."""
        return sorted(self.names())


TreeNode = FolderNode | ValueNode


def folder(children: Mapping[str, Callable[[], TreeNode]]) -> FolderNode:
    """Return a folder of a few known names."""

    def child(name: str) -> TreeNode | None:
        return children[name]() if name in children else None

    return FolderNode(lambda: children, child)


def values(items: Mapping[str, Any]) -> FolderNode:
    """Return a folder of values."""
    return FolderNode(lambda: items, lambda name: ValueNode(items[name]) if name in items else None)
