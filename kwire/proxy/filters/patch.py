"""Sets a field of a message by its path; where arrays are on the way, in each of their elements.

`topics.name` is the name of every topic, `topics.0.name` that of the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any
from uuid import UUID

from kwire.codec.declaration import Group
from kwire.codec.fields import ArrayOf, Nullable, StructClass, StructOf
from kwire.errors import InvalidValue
from kwire.messages.index import APIS
from kwire.messages.registry import request, response
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.language import Expression
from kwire.text.ids import parse_uuid
from kwire.text.untrusted import cut_repr, whole_number


def patch(message: Group, path: str, value: Any) -> bool:
    """Set a field; return False if no element had it. Raises InvalidValue for an unknown field."""
    name, _, rest = path.partition(".")
    if name not in type(message).fields:
        raise InvalidValue(f"{type(message).__name__} has no field {cut_repr(name)}")
    current = getattr(message, name)
    if not rest:
        setattr(message, name, _as(current, value))
        return True
    inner = current if isinstance(current, list) else [current]
    # A number picks one element; without it all elements are changed.
    index, _, behind = rest.partition(".")
    element = whole_number(index, bits=31)
    if isinstance(current, list) and element is not None:
        inner, rest = inner[element:][:1], behind
    was_set = [patch(group, rest, value) for group in inner if isinstance(group, Group)]
    return any(was_set)


def unreachable(paths: Iterable[str], match: Expression, direction: Direction) -> str | None:
    """Return the first path that no message that may match has, in any version; None without."""
    kind_of = request if direction is Direction.REQUEST else response

    @cache
    def may_match(key: int) -> bool:
        return any(match.static(key, version) is not False for version in kind_of(key).versions)

    def is_there(path: str) -> bool:
        return any(may_match(key) and _has(kind_of(key), path) for key in APIS)

    return next((path for path in paths if not is_there(path)), None)


def _has(kind: StructClass, path: str) -> bool:
    name, _, rest = path.partition(".")
    field = kind.fields.get(name)
    if field is None or not rest:
        return field is not None
    node = field.type.inner if isinstance(field.type, Nullable) else field.type
    if isinstance(node, ArrayOf):
        node = node.element
        index, _, behind = rest.partition(".")
        rest = rest if whole_number(index, bits=31) is None else behind
    return isinstance(node, StructOf) and _has(node.cls, rest)


def _as(old: Any, value: Any) -> Any:
    """Return the value in the type of the field: YAML has strings for UUIDs and bytes."""
    if isinstance(old, UUID) and isinstance(value, str):
        return parse_uuid(value)
    if isinstance(old, bytes) and isinstance(value, str):
        try:
            return bytes.fromhex(value)
        except ValueError:
            raise InvalidValue(f"{cut_repr(value)} is not in hexadecimal") from None
    return value
