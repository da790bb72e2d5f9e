"""A decoded message as JSON for the tables: msgspec writes it, once what it cannot write is mended.

Fields have the names of the declarations. Ids become Kafka's own text; record batches become null,
and are counted: the capture has them. This changes the message, which is of no further use. Where
nobody wants the JSON, ids stay as they are: most messages then have nothing to mend.
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
"""A cluster has few ids, and says them often."""


class Mending(msgspec.Struct, frozen=True):
    """Which fields of a struct hold what: names of fields, and the structs below with theirs."""

    uuids: tuple[str, ...] = ()
    uuid_arrays: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    structs: tuple[tuple[str, Mending], ...] = ()
    arrays: tuple[tuple[str, Mending], ...] = ()


NOTHING = Mending()


@cache
def mending(cls: StructClass, ids: bool = True) -> Mending:
    """What there is to do in this struct and those below it; ids: whether they become text."""
    found: dict[str, list[Any]] = {name: [] for name in Mending.__struct_fields__}
    for name, field in cls.fields.items():
        node = _bare(field.type)
        if isinstance(node, StructOf):
            if (below := mending(node.cls, ids)) != NOTHING:
                found["structs"].append((name, below))
        elif isinstance(node, ArrayOf) and isinstance(element := _bare(node.element), StructOf):
            if (below := mending(element.cls, ids)) != NOTHING:
                found["arrays"].append((name, below))
        elif isinstance(node, ArrayOf):
            if ids and _is_uuid(_bare(node.element)):
                found["uuid_arrays"].append(name)
        elif _is_uuid(node):
            if ids:
                found["uuids"].append(name)
        elif isinstance(node, VariableLength) and node.construct_class is constructs.Records:
            found["records"].append(name)
    return Mending(**{name: tuple(values) for name, values in found.items()})


def mend(group: Group, plan: Mending) -> int:
    """Write ids as text and take record batches out; gives how many bytes these had."""
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
            records_bytes += mend(inner, below)
    for name, below in plan.arrays:
        for element in getattr(group, name) or ():
            records_bytes += mend(element, below)
    return records_bytes


def json(group: Group) -> str:
    """The JSON of a mended message; text that is not UTF-8 with its bytes as escapes."""
    try:
        data = _encode(group)
    except UnicodeEncodeError:
        data = _encode(_printable(msgspec.structs.asdict(cast(Any, group))))
    return data.replace(_NO_TAGS, b"").decode()


def printable(text: str | None) -> str | None:
    """Text that other programs take: bytes that are no UTF-8 become escapes."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode()


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Group):
        return _printable(msgspec.structs.asdict(cast(Any, value)))
    if isinstance(value, dict):
        return {key: _printable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(one) for one in value]
    return value


def _bare(node: FieldType) -> FieldType:
    return node.inner if isinstance(node, Nullable) else node


def _is_uuid(node: FieldType) -> bool:
    return isinstance(node, Scalar) and node.con is constructs.uuid
