"""The parts that the C extension makes its tables of, and their form on disk.

A part is a tuple; it names other parts by their index, and they always stand before it:

    ("int32",)                                      a value of fixed size, see tables.FIXED
    ("text" or "bytes", width, nullable)            width: how the length is written, tables.WIDTHS
    ("list" or "tuple", width, nullable, least, element)
    ("optional", width, null, inner)                a marker of this width; `null` or less is null
    ("struct", class, flexible, members)
        member: (name, part, tag, default, make, refused), first the plain fields in wire order,
        then tagged ones by tag, then those that this version lacks; part and tag are -1 for none

make is None where a default can be shared, else what makes a new one. On disk a class is its module
and name, and make is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

import msgspec

Part = tuple[Any, ...]

SHARED = (int, float, bool, str, bytes, tuple, UUID, type(None))
"""Types of defaults that cannot change, so that all objects may have the same one."""


class Unsupported(Exception):
    """A node or a default that the C extension has no part for."""


def maker(default: Any) -> Callable[[], Any] | None:
    """Return what makes a new default, None where one can be shared."""
    if type(default) in SHARED:
        return None
    if default == [] or isinstance(default, msgspec.Struct):
        make: Callable[[], Any] = type(default)
        return make
    raise Unsupported(f"a default like {default!r}")


def to_basic(parts: Iterable[Part]) -> list[Part] | None:
    """Return the parts in basic types, None where a default or a class cannot be told in these."""
    try:
        return [_to_basic(part) if part[0] == "struct" else part for part in parts]
    except Unsupported:
        return None


def from_basic(basic: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts again; the modules of their classes have to be imported."""
    return tuple(_from_basic(part) if part[0] == "struct" else part for part in basic)


def _to_basic(struct: Part) -> Part:
    kind, cls, flexible, members = struct
    basic = [
        (name, part, tag, _basic_default(default), refused)
        for name, part, tag, default, _, refused in members
    ]
    return kind, _names(cls), flexible, basic


def _from_basic(struct: Part) -> Part:
    kind, names, flexible, basic = struct
    members = []
    for name, part, tag, value, refused in basic:
        default = _default(*value)
        members.append((name, part, tag, default, maker(default), refused))
    return kind, _class(*names), flexible, tuple(members)


def _basic_default(default: Any) -> tuple[str, Any]:
    if isinstance(default, UUID):
        return "uuid", default.int
    if isinstance(default, msgspec.Struct) and default == type(default)():
        return "struct", _names(type(default))
    if isinstance(default, list) and not default:
        return "list", None
    if type(default) in SHARED:
        return "value", default
    raise Unsupported(f"a default like {default!r}")


def _default(kind: str, value: Any) -> Any:
    match kind:
        case "uuid":
            return UUID(int=value)
        case "struct":
            return _class(*value)()
        case "list":
            return []
    return value


def _names(cls: type) -> tuple[str, str]:
    # A class made inside a function cannot be found again when the parts are loaded from disk.
    if getattr(sys.modules.get(cls.__module__), cls.__name__, None) is not cls:
        raise Unsupported(f"{cls} is not found by its name")
    return cls.__module__, cls.__name__


def _class(module: str, name: str) -> Any:
    return getattr(sys.modules[module], name)
