"""The declaration of a message as it stands in its module, with the structs that it uses."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kwire.codec.declaration import Message
    from kwire.codec.fields import FieldType, StructClass


def declaration_text(cls: type[Message]) -> str:
    """The source of the class after that of every struct inside it, in the module's order."""
    classes = {one: inspect.getsource(one).rstrip() for one in dict.fromkeys(_inside(cls))}
    ordered = sorted(classes, key=lambda one: inspect.getsourcelines(one)[1])
    return "\n\n\n".join(classes[one] for one in ordered)


def _inside(cls: StructClass) -> Iterator[StructClass]:
    for field in cls.fields.values():
        yield from _structs(field.type)
    yield cls


def _structs(node: FieldType) -> Iterator[StructClass]:
    from kwire.codec.fields import ArrayOf, Nullable, StructOf

    match node:
        case StructOf(cls=cls):
            yield from _inside(cls)
        case ArrayOf(element=inner) | Nullable(inner=inner):
            yield from _structs(inner)
