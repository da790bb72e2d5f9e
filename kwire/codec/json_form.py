"""Messages as JSON, in the form of Kafka's own `*JsonConverter` classes.

Names in camelCase, bytes as base64, UUIDs as Kafka prints them (base64url), tagged fields left out
while they have their default, fields of other versions left out. Kafka's form loses two things;
members of the same object keep them, begin with `_`, and are ignored by Kafka's readers:

- `_unknownTags`: the struct's unknown tagged fields, `{"16": "<base64>"}`.
- `_records`: the bytes of a field `records` that is not empty, where Kafka prints `""`.
"""

from __future__ import annotations

from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar, cast
from uuid import UUID

from construct import Construct, Flag, Float64b

from kwire.codec.constructs import (
    INTEGERS,
    Blob,
    KafkaArray,
    NullableStruct,
    ObjectStruct,
    Records,
    Text,
    Uuid,
)
from kwire.codec.declaration import Message
from kwire.errors import EncodeError
from kwire.text.json_numbers import json_number
from kwire.text.untrusted import cut_repr

M = TypeVar("M", bound=Message)

UNKNOWN_TAGS = "_unknownTags"
RANGES = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}


class _MisfitError(Exception):
    """A value that has no place at `path`."""

    def __init__(self, reason: str, path: str) -> None:
        self.reason = reason
        self.path = path


def to_json(obj: Message, version: int, *, exact: bool = True) -> dict[str, Any]:
    """Return what Kafka's converter prints of `obj` at `version`, as dicts, lists and scalars.

    exact: with the members that keep what Kafka's form loses, so that `from_json` gives an equal
    object; without them it is Kafka's form and nothing else. Strings that are not UTF-8 on the wire
    hold lone surrogates. EncodeError where a value does not fit the version.
    """
    struct = type(obj).at(version)
    writer = _write_exact if exact else _write
    return cast(dict[str, Any], _checked(type(obj), version, lambda: writer(struct, obj, "")))


def from_json(cls: type[M], value: Mapping[str, Any], version: int) -> M:
    """Return the message that `to_json`, or Kafka's converter, printed at `version`.

    Members that the version does not have are ignored, as Kafka does. EncodeError, with the path in
    Kafka's names, where a member is missing or holds what its field cannot.
    """
    struct = cls.at(version)
    return cast(M, _checked(cls, version, lambda: _read(struct, value, "")))


def defaults(struct: ObjectStruct) -> dict[str, Any]:
    """Return the members of a struct that nothing was set in; tagged ones have no need to be."""
    return _write_struct(struct, struct.cls(), "", exact=False)


def _checked(cls: type[Message], version: int, convert: Callable[[], Any]) -> Any:
    try:
        return convert()
    except _MisfitError as misfit:
        raise EncodeError(
            misfit.reason, message=cls.__name__, version=version, path=misfit.path
        ) from None


@cache
def camel(name: str) -> str:
    """Kafka's name of a field: `voterDirectoryId` for `voter_directory_id`."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _at(path: str, name: str) -> str:
    return f"{path}.{camel(name)}" if path else camel(name)


def _write(con: Construct, value: Any, path: str, exact: bool = False) -> Any:
    if isinstance(con, NullableStruct):
        return None if value is None else _write(con.subcon, value, path, exact)
    if value is None and getattr(con, "nullable", False):
        return None
    try:
        return _write_value(con, value, path, exact)
    except (AttributeError, TypeError, ValueError):
        raise _MisfitError(f"{cut_repr(value)} is not a value of this field", path) from None


def _write_exact(con: Construct, value: Any, path: str) -> Any:
    return _write(con, value, path, exact=True)


def _write_value(con: Construct, value: Any, path: str, exact: bool) -> Any:
    match con:
        case ObjectStruct():
            return _write_struct(con, value, path, exact)
        case KafkaArray():
            pairs = enumerate(value)
            return [_write(con.subcon, element, f"{path}[{i}]", exact) for i, element in pairs]
        case Text() if isinstance(value, str):
            return value
        case Records():
            return ""
        case Blob():
            return b64encode(value).decode()
        case Uuid():
            return urlsafe_b64encode(value.bytes).decode().rstrip("=")
    if con is Float64b:
        return json_number(float(value))
    return _read_scalar(con, value, path)


def _write_struct(struct: ObjectStruct, obj: Any, path: str, exact: bool) -> dict[str, Any]:
    if not isinstance(obj, struct.cls):
        raise _MisfitError(f"{struct.cls.__name__} wanted, not {type(obj).__name__}", path)
    for name, default in struct.refused.items():
        if getattr(obj, name) != default:
            raise _MisfitError("not in this version", _at(path, name))
    written: dict[str, Any] = {}
    for field in struct.subcons:
        value = getattr(obj, field.name)
        written[camel(field.name)] = _write(field.subcon, value, _at(path, field.name), exact)
        if exact and value and isinstance(field.subcon, Records):
            written["_" + camel(field.name)] = b64encode(value).decode()
    for tag in struct.tags.known.values() if struct.tags else ():
        value = getattr(obj, tag.name)
        if value != tag.default:
            written[camel(tag.name)] = _write(tag.con, value, _at(path, tag.name), exact)
    if exact and obj.unknown_tags:
        encoded = {str(tag): b64encode(data).decode() for tag, data in obj.unknown_tags.items()}
        written[UNKNOWN_TAGS] = encoded
    return written


def _read(con: Construct, value: Any, path: str) -> Any:
    if value is None and (isinstance(con, NullableStruct) or getattr(con, "nullable", False)):
        return None
    match con:
        case NullableStruct():
            return _read(con.subcon, value, path)
        case ObjectStruct() if isinstance(value, Mapping):
            return _read_struct(con, value, path)
        case KafkaArray() if isinstance(value, list | tuple):
            return con.make(
                [_read(con.subcon, element, f"{path}[{i}]") for i, element in enumerate(value)]
            )
        case Text() if isinstance(value, str):
            return value
        case Blob() if isinstance(value, str):
            return _bytes(value, path)
        case Uuid() if isinstance(value, str):
            return _uuid(value, path)
    return _read_scalar(con, value, path)


def _read_struct(struct: ObjectStruct, value: Mapping[str, Any], path: str) -> Any:
    fields: dict[str, Any] = {}
    for field in struct.subcons:
        name, where = camel(field.name), _at(path, field.name)
        if name not in value:
            raise _MisfitError("is missing", where)
        # Kafka prints "" for records; the member beside it holds the bytes.
        exact = value.get("_" + name) if isinstance(field.subcon, Records) else None
        fields[field.name] = _read(field.subcon, value[name] if exact is None else exact, where)
    for tag in struct.tags.known.values() if struct.tags else ():
        if camel(tag.name) in value:
            fields[tag.name] = _read(tag.con, value[camel(tag.name)], _at(path, tag.name))
    if value.get(UNKNOWN_TAGS):
        fields["unknown_tags"] = _unknown_tags(value[UNKNOWN_TAGS], path)
    return struct.cls(**fields)


def _unknown_tags(value: Any, path: str) -> dict[int, bytes]:
    where = f"{path}.{UNKNOWN_TAGS}" if path else UNKNOWN_TAGS
    try:
        return {int(tag): _bytes(data, where) for tag, data in value.items()}
    except (AttributeError, TypeError, ValueError):
        raise _MisfitError("wanted is an object of base64 by tag", where) from None


def _read_scalar(con: Construct, value: Any, path: str) -> Any:
    if con is Flag and isinstance(value, bool):
        return value
    if con is Float64b and (value in ("NaN", "Infinity", "-Infinity") or _is_number(value)):
        return float(value)
    kind = INTEGERS.get(con)
    if kind and isinstance(value, int) and not isinstance(value, bool):
        lowest, highest = RANGES[kind]
        if lowest <= value <= highest:
            return value
        raise _MisfitError(f"{value} is no {kind}", path)
    raise _MisfitError(f"{cut_repr(value)} is not a value of this field", path)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _bytes(value: str, path: str) -> bytes:
    try:
        return b64decode(value, validate=True)
    except ValueError:
        raise _MisfitError(f"{cut_repr(value)} is no base64", path) from None


def _uuid(value: str, path: str) -> UUID:
    try:
        return UUID(bytes=b64decode(value.rstrip("=") + "==", altchars=b"-_", validate=True))
    except ValueError:
        raise _MisfitError(f"{cut_repr(value)} is no UUID in base64url", path) from None
