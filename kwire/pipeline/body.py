"""Decoded messages as JSON for the tables, written by msgspec after some fields are replaced.

Fields have the names of the declarations. Ids become Kafka's own text; record batches become null,
and are counted: they stay in the capture, since tables are given to people who may not see the
data. The message itself is changed: a copy would cost as much again, and it is not used further.
Without JSON, ids stay as they are: most messages then have nothing to replace.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache, lru_cache
from typing import Any, NamedTuple, cast
from uuid import UUID

import msgspec

from kwire.codec import constructs
from kwire.codec.declaration import Group
from kwire.codec.fields import (
    ArrayOf,
    FieldType,
    Nullable,
    Scalar,
    StructClass,
    StructOf,
    VariableLength,
)
from kwire.text.ids import uuid_text

_encode = msgspec.json.Encoder().encode
_NO_TAGS = b',"unknown_tags":null'


def id_text(value: UUID) -> str:
    """Return Kafka's text of an id."""
    return _text_of_number(value.int)


@lru_cache(maxsize=65536)
def _text_of_number(number: int) -> str:
    """Return the text of an id by its number: UUIDs are hashed and compared in Python.

    A cluster has few ids, which are in most of its messages.
    """
    return uuid_text(UUID(int=number))


class Kind(IntEnum):
    """The kinds of fields that are replaced, or that have such fields below them."""

    UUID = 1
    UUIDS = 2
    RECORDS = 3
    STRUCT = 4
    STRUCTS = 5


class Replacement(NamedTuple):
    """A field of a struct to replace. below: the fields of its own structs, if it has any."""

    kind: Kind
    name: str
    below: tuple[Replacement, ...] = ()


@cache
def replacements(cls: StructClass, ids: bool = True) -> tuple[Replacement, ...]:
    """Return the fields to replace in this struct and those below. ids: True to make them text."""
    found = [_replacement(name, field.type, ids) for name, field in cls.fields.items()]
    return tuple(replacement for replacement in found if replacement is not None)


def _replacement(name: str, declared: FieldType, ids: bool) -> Replacement | None:
    node = _bare(declared)
    element = _bare(node.element) if isinstance(node, ArrayOf) else None
    struct = node if isinstance(node, StructOf) else element
    if isinstance(struct, StructOf):
        kind = Kind.STRUCT if element is None else Kind.STRUCTS
        below = replacements(struct.cls, ids)
        return Replacement(kind, name, below) if below else None
    if isinstance(node, VariableLength) and node.construct_class is constructs.Records:
        return Replacement(Kind.RECORDS, name)
    if ids and _is_uuid(node):
        return Replacement(Kind.UUID, name)
    if ids and element is not None and _is_uuid(element):
        return Replacement(Kind.UUIDS, name)
    return None


def replace_fields(group: Group, plan: tuple[Replacement, ...]) -> int:
    """Replace ids by text and record batches by null; return the bytes that the batches had."""
    records_bytes = 0
    for kind, name, below in plan:
        value = getattr(group, name)
        if value is None:
            continue
        if kind is _STRUCTS:
            for element in value:
                records_bytes += replace_fields(element, below)
        elif kind is _UUID:
            setattr(group, name, id_text(value))
        elif kind is _RECORDS:
            records_bytes += len(value)
            setattr(group, name, None)
        elif kind is _STRUCT:
            records_bytes += replace_fields(value, below)
        else:
            setattr(group, name, [id_text(id_) for id_ in value])
    return records_bytes


# Looked up once: this runs for every struct of every message.
_UUID, _RECORDS, _STRUCT, _STRUCTS = Kind.UUID, Kind.RECORDS, Kind.STRUCT, Kind.STRUCTS


def json(group: Group) -> str:
    """Return the JSON of a message after `replace_fields`; bytes that are no UTF-8 are escaped."""
    try:
        data = _encode(group)
    # Text that is not UTF-8 on the wire is held as lone surrogates, which JSON cannot have.
    except UnicodeEncodeError:
        data = _encode(_printable(msgspec.structs.asdict(cast(Any, group))))
    # Inside a string the quotes would be escaped, so that this is always the member itself.
    return data.replace(_NO_TAGS, b"").decode()


def printable(text: str | None) -> str | None:
    """Return text that other programs take: bytes that are no UTF-8 become escapes."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode()


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Group):
        return _printable(msgspec.structs.asdict(cast(Any, value)))
    if isinstance(value, dict):
        return {key: _printable(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(element) for element in value]
    return value


def _bare(node: FieldType) -> FieldType:
    return node.inner if isinstance(node, Nullable) else node


def _is_uuid(node: FieldType) -> bool:
    return isinstance(node, Scalar) and node.con is constructs.uuid
