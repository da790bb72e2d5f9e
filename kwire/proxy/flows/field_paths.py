"""The paths of every field that any message has, for expressions that name one."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache

from kwire.codec.fields import StructClass
from kwire.errors import InvalidValue
from kwire.messages.index import APIS
from kwire.messages.registry import request, response
from kwire.proxy.flows.walk import struct_in
from kwire.text.untrusted import cut_repr

COMPARED = 50
"""Paths that are compared with one that no message has."""


def check_field(path: str) -> None:
    """Raise InvalidValue if no message has a field whose path is, or ends in, this one."""
    if path not in _endings():
        close = get_close_matches(path, _likely(path), n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InvalidValue(f"no message has a field {cut_repr(path)}{hint}")


def _likely(path: str) -> list[str]:
    """Return the few paths that may be meant: comparing all two thousand takes long."""
    letters = set(path)
    known = [
        (len(letters ^ set(known)), known)
        for known in _endings()
        if abs(len(known) - len(path)) < 4 and known.count(".") == path.count(".")
    ]
    return [known for _, known in sorted(known)[:COMPARED]]


@cache
def _endings() -> frozenset[str]:
    """Return all paths from any point on: `request.topics.name`, `topics.name`, `name`."""
    return frozenset(
        ".".join(parts[start:])
        for paths in field_paths().values()
        for parts in (path.split(".") for path in paths)
        for start in range(len(parts))
    )


def field_paths() -> dict[int, list[str]]:
    """Return the whole paths of the fields of each API: `request.topics.name`."""
    return {
        key: [
            ".".join(parts)
            for root, kind in (("request", request(key)), ("response", response(key)))
            for parts in _paths(kind, (root,))
        ]
        for key in APIS
    }


def _paths(kind: StructClass, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, field in kind.fields.items():
        inner = struct_in(field.type)
        if inner is None:
            yield (*above, name)
        else:
            yield from _paths(inner, (*above, name))
