"""Finds things in a decoded message, at whatever depth and in whichever API they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from kwire import error_codes
from kwire.codec.declaration import Group
from kwire.codec.fields import ArrayOf, FieldType, Nullable, StructClass, StructOf

RECORDS_FIELDS = ("records", "unaligned_records")
"""The fields that hold record batches."""


def fields(group: Group, version: int) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each field of the version; a tagged one only if it was sent."""
    for name, field in type(group).fields.items():
        if version not in field.versions:
            continue
        value = getattr(group, name)
        tagged = field.tag is not None and version in field.tagged
        if not (tagged and value == field.new_default()):
            yield name, value


def scalars(group: Group, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield path, name and value of every field that is no struct, depth first."""
    for name in type(group).fields:
        value = getattr(group, name)
        if isinstance(value, Group):
            yield from scalars(value, f"{path}{name}.")
        elif isinstance(value, list):
            for index, element in enumerate(value):
                yield from scalars(element, f"{path}{name}[{index}].")
        else:
            yield f"{path}{name}", name, value


@dataclass(frozen=True, slots=True)
class RouteStep:
    """A field on a route. is_end: it is wanted itself; below: the way on inside it."""

    name: str
    is_end: bool
    below: tuple[RouteStep, ...]


def route(
    kind: StructClass, wanted: Callable[[str], bool], above: str = ""
) -> tuple[RouteStep, ...]:
    """Return the way to all fields whose path, without indices, is wanted."""
    steps: list[RouteStep] = []
    for name, field in kind.fields.items():
        inner = struct_in(field.type)
        path = f"{above}{name}"
        step = RouteStep(
            name, wanted(path), () if inner is None else route(inner, wanted, f"{path}.")
        )
        if step.is_end or step.below:
            steps.append(step)
    return tuple(steps)


known_route = cache(route)
"""The same for a function of a module, looked for once in each kind of struct."""


def along(group: Group, steps: tuple[RouteStep, ...], look: Callable[[int], None]) -> Iterator[Any]:
    """Yield the values at the ends of a route; a struct that is null is None.

    look: called with the number of values in a list before they are looked at.
    """
    for step in steps:
        value = getattr(group, step.name)
        if isinstance(value, Group):
            yield from along(value, step.below, look)
        elif isinstance(value, list):
            if step.below:
                look(len(value) * len(step.below))
                for element in value:
                    yield from along(element, step.below, look)
        elif step.is_end:
            yield value


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorField:
    """An error code in a response: where it stands, and what the node said beside it."""

    path: str
    code: int
    message: str | None = None

    @property
    def name(self) -> str:
        """Kafka's name of the code."""
        return error_codes.name(self.code)


def failures(group: Group, path: str = "") -> Iterator[ErrorField]:
    """Yield every error code that is not 0, at every level."""
    for name, below, message in _failing(type(group)):
        value = getattr(group, name)
        if not value:
            continue
        if not below:
            text = None if message is None else getattr(group, message)
            yield ErrorField(path=f"{path}{name}", code=value, message=text)
        elif isinstance(value, list):
            for index, element in enumerate(value):
                yield from failures(element, f"{path}{name}[{index}].")
        else:
            yield from failures(value, f"{path}{name}.")


def has_failures(group: Group) -> bool:
    """Return True if `failures` yields any: most responses have none, and need no paths."""
    for name, below, _ in _failing(type(group)):
        value = getattr(group, name)
        if not value:
            continue
        if not below:
            return True
        for element in value if isinstance(value, list) else (value,):
            if has_failures(element):
                return True
    return False


@cache
def _failing(cls: StructClass) -> tuple[tuple[str, bool, str | None], ...]:
    """Return the fields that are, or contain, error codes, and the message field beside each."""
    fields: list[tuple[str, bool, str | None]] = []
    for name, field in cls.fields.items():
        inner = struct_in(field.type)
        message = name.replace("code", "message")
        if inner is not None:
            if _failing(inner):
                fields.append((name, True, None))
        elif name.endswith("error_code"):
            fields.append((name, False, message if message in cls.fields else None))
    return tuple(fields)


def struct_in(node: FieldType) -> StructClass | None:
    """Return the struct of a field, or of its elements."""
    while isinstance(node, Nullable | ArrayOf):
        node = node.inner if isinstance(node, Nullable) else node.element
    return node.cls if isinstance(node, StructOf) else None
