"""Sets a field of a message by its path; where arrays are on the way, in each of their elements.

`topics.name` is the name of every topic, `topics.0.name` that of the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any
from uuid import UUID

from kwire.codec.declaration import Group
from kwire.codec.fields import ArrayOf, Nullable, StructClass, StructOf
from kwire.errors import InvalidValue
from kwire.messages.index import APIS
from kwire.messages.registry import request, response
from kwire.proxy.flows.effort import Effort
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.language import Expression
from kwire.text.ids import parse_uuid
from kwire.text.untrusted import cut_repr, whole_number


def patch(message: Group, path: str, value: Any, effort: Effort) -> bool:
    """Set a field; return False if no element had it.

    Raises InvalidValue for an unknown field, and, before anything is set, for what would make the
    message much longer: a value is set in each of a million elements.
    """
    groups, name = list(_groups(message, path, effort)), path.rpartition(".")[2]
    before = [getattr(group, name) for group in groups]
    values = {kind: _as(kind, value) for kind in {type(old) for old in before}}
    sizes = {kind: _size(new) for kind, new in values.items()}
    effort.grow(sum(sizes[type(old)] - _size(old) for old in before), path)
    for group, old in zip(groups, before, strict=True):
        setattr(group, name, values[type(old)])
    return bool(groups)


def _groups(message: Group, path: str, effort: Effort) -> Iterator[Group]:
    """Yield the structs whose field it is. Raises InvalidValue for an unknown field."""
    name, _, rest = path.partition(".")
    if name not in type(message).fields:
        raise InvalidValue(f"{type(message).__name__} has no field {cut_repr(name)}")
    if not rest:
        yield message
        return
    current = getattr(message, name)
    inner = current if isinstance(current, list) else [current]
    # A number picks one element; without it all elements are changed.
    index, _, behind = rest.partition(".")
    element = whole_number(index, bits=31)
    if isinstance(current, list) and element is not None:
        inner, rest = inner[element:][:1], behind
    effort.look(len(inner))
    for group in inner:
        if isinstance(group, Group):
            yield from _groups(group, rest, effort)


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


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode(errors="surrogatepass"))
    return len(value) if isinstance(value, bytes) else 0


def _as(kind: type, value: Any) -> Any:
    """Return the value in the type of the field: YAML has strings for UUIDs and bytes."""
    if issubclass(kind, UUID) and isinstance(value, str):
        return parse_uuid(value)
    if issubclass(kind, bytes) and isinstance(value, str):
        try:
            return bytes.fromhex(value)
        except ValueError:
            raise InvalidValue(f"{cut_repr(value)} is not in hexadecimal") from None
    return value
