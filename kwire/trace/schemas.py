"""Declarations of messages as JSON, for the decoder in the page (`wire.js`).

n: a name. x: flexible versions. f: fields. k: the kind of a value. e: the elements of an array.
s: the fields of a struct. m: the marker before a struct that may be null. u: versions in which
the value may be null. v: versions that have the field, if not all. t, g: a tag and its versions.
d: the default, of a struct only null. c: 1 for a length that is never compact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from kwire.codec.declaration import MessageClass
from kwire.codec.fields import (
    ALWAYS,
    ArrayOf,
    Field,
    FieldType,
    Nullable,
    Scalar,
    StructClass,
    StructOf,
    VariableLength,
)
from kwire.codec.versions import Versions
from kwire.messages.headers import RequestHeader, ResponseHeader
from kwire.messages.index import APIS
from kwire.messages.registry import request, response
from kwire.proxy.flows import masks
from kwire.proxy.flows.tree import NAMED_NUMBERS
from kwire.proxy.flows.walk import RECORDS_FIELDS
from kwire.text.ids import uuid_text


def schemas(keys: set[int]) -> dict[str, Any]:
    """Return the declarations of APIs, and what the decoder has to know besides."""
    return {
        "apis": {
            key: [message_schema(request(key)), message_schema(response(key))]
            for key in sorted(keys & set(APIS))
        },
        "headers": [message_schema(RequestHeader), message_schema(ResponseHeader)],
        "records": RECORDS_FIELDS,
        "secrets": sorted(masks.SECRET_FIELDS),
        "sensitive": masks.SENSITIVE_CONFIG.pattern,
        "numbers": {
            f"{kind.__name__}.{name}": {number.value: number.name for number in names}
            for (kind, name), names in NAMED_NUMBERS.items()
        },
    }


def message_schema(kind: MessageClass) -> dict[str, Any]:
    """Return the declaration of a message or header."""
    return {"n": kind.__name__, "x": _ranges(kind.flexible), "f": _fields(kind)}


def _fields(kind: StructClass) -> list[dict[str, Any]]:
    return [{"n": name, **_field(field)} for name, field in kind.fields.items()]


def _field(field: Field) -> dict[str, Any]:
    declared = _type(field.type)
    if field.versions != ALWAYS:
        declared["v"] = _ranges(field.versions)
    if field.tag is not None:
        declared |= {"t": field.tag, "g": _ranges(field.tagged)}
    default = field.new_default()
    if default is None or declared["k"] != "struct":
        declared["d"] = _value(default)
    return declared


def _type(node: FieldType) -> dict[str, Any]:
    match node:
        case Nullable():
            return {**_type(node.inner), "u": _ranges(node.versions)}
        case ArrayOf():
            return {"k": "array", "e": _type(node.element)}
        case StructOf():
            marker: Mapping[str, Any] = {"m": [node.marker, node.null]}
            return {"k": "struct", "n2": node.cls.__name__, "s": _fields(node.cls), **marker}
        case VariableLength():
            return {"k": node.kind, **({"c": 1} if node.classic else {})}
        case Scalar():
            return {"k": node.kind}
    raise NotImplementedError(f"{node} is of no kind that the page reads")


def _ranges(versions: Versions) -> list[list[int]]:
    return [list(ends) for ends in versions.ranges]


def _value(default: Any) -> Any:
    """Return a default as JSON; a number as text where JavaScript's would round it."""
    match default:
        case UUID():
            return uuid_text(default)
        case bytes():
            return default.hex()
        case tuple() | list():
            return []
        case int() if abs(default) >= 2**53:
            return str(default)
    return default
