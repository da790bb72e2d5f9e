"""The declaration of a message as its module has it, with the structs that it uses."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kwire.codec.declaration import Message
    from kwire.codec.fields import FieldType, StructClass


def declaration_text(cls: type[Message]) -> str:
    """Return the source of a class and of every struct inside it, in the module's order."""
    classes = {struct: inspect.getsource(struct).rstrip() for struct in dict.fromkeys(_inside(cls))}
    ordered = sorted(classes, key=lambda struct: inspect.getsourcelines(struct)[1])
    return "\n\n\n".join(classes[struct] for struct in ordered)


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
