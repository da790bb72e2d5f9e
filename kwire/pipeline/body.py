"""Decoded messages as JSON for the tables, written by msgspec after some fields are replaced.

Fields have the names of the declarations. Ids become Kafka's own text; record batches become null,
and are counted: they stay in the capture, since tables are given to people who may not see the
data. The message itself is changed: a copy would cost as much again, and it is not used further.
Without JSON, ids stay as they are: most messages then have nothing to replace.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, cast
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

_text = lru_cache(maxsize=65536)(uuid_text)
"""A cluster has few ids, which are in most of its messages."""


class Replacements(msgspec.Struct, frozen=True):
    """The fields of a struct to replace: their names, and the structs below with theirs."""

    uuids: tuple[str, ...] = ()
    uuid_arrays: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    structs: tuple[tuple[str, Replacements], ...] = ()
    arrays: tuple[tuple[str, Replacements], ...] = ()


NOTHING = Replacements()


@cache
def replacements(cls: StructClass, ids: bool = True) -> Replacements:
    """Return the fields to replace in this struct and those below. ids: True to make them text."""
    names: dict[str, list[Any]] = {name: [] for name in Replacements.__struct_fields__}
    for name, field in cls.fields.items():
        node = _bare(field.type)
        if isinstance(node, StructOf):
            if (below := replacements(node.cls, ids)) != NOTHING:
                names["structs"].append((name, below))
        elif isinstance(node, ArrayOf) and isinstance(element := _bare(node.element), StructOf):
            if (below := replacements(element.cls, ids)) != NOTHING:
                names["arrays"].append((name, below))
        elif isinstance(node, ArrayOf):
            if ids and _is_uuid(_bare(node.element)):
                names["uuid_arrays"].append(name)
        elif _is_uuid(node):
            if ids:
                names["uuids"].append(name)
        elif isinstance(node, VariableLength) and node.construct_class is constructs.Records:
            names["records"].append(name)
    return Replacements(**{name: tuple(values) for name, values in names.items()})


def replace_fields(group: Group, plan: Replacements) -> int:
    """Replace ids by text and record batches by null; return the bytes that the batches had."""
    records_bytes = 0
    for name in plan.uuids:
        value: UUID | None = getattr(group, name)
        if value is not None:
            setattr(group, name, _text(value))
    for name in plan.uuid_arrays:
        values = getattr(group, name)
        if values is not None:
            setattr(group, name, [_text(value) for value in values])
    for name in plan.records:
        if (data := getattr(group, name)) is not None:
            records_bytes += len(data)
            setattr(group, name, None)
    for name, below in plan.structs:
        if (inner := getattr(group, name)) is not None:
            records_bytes += replace_fields(inner, below)
    for name, below in plan.arrays:
        for element in getattr(group, name) or ():
            records_bytes += replace_fields(element, below)
    return records_bytes


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
