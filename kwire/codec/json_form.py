"""Messages as JSON, in the form of Kafka's own `*JsonConverter` classes.

Names in camelCase, bytes as base64, UUIDs as Kafka prints them (base64url), tagged fields left out
while they have their default, fields of other versions left out. Kafka's form loses two things;
members of the same object keep them, begin with `_`, and are ignored by Kafka's readers:

- `_unknownTags`: the struct's unknown tagged fields, `{"16": "<base64>"}`.
- `_records`: the bytes of a field `records` that is not empty, where Kafka prints `""`.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from construct import Construct

from kwire.codec.constructs import (
    Blob,
    KafkaArray,
    NullableStruct,
    ObjectStruct,
    Records,
    Text,
    Uuid,
)
from kwire.codec.declaration import Message
from kwire.codec.json_writing import (
    RANGES,
    UNKNOWN_TAGS,
    MisfitError,
    camel,
    checked_scalar,
    message_writer,
    writer,
)
from kwire.errors import EncodeError
from kwire.text.untrusted import cut_repr

__all__ = ["RANGES", "UNKNOWN_TAGS", "camel", "defaults", "from_json", "to_json"]

M = TypeVar("M", bound=Message)


def to_json(obj: Message, version: int, *, exact: bool = True) -> dict[str, Any]:
    """Return what Kafka's converter prints of `obj` at `version`, as dicts, lists and scalars.

    exact: with the members that keep what Kafka's form loses, so that `from_json` gives an equal
    object; without them it is Kafka's form and nothing else. Strings that are not UTF-8 on the wire
    hold lone surrogates. EncodeError where a value does not fit the version.
    """
    try:
        written: dict[str, Any] = message_writer(type(obj), version, exact)(obj)
        return written
    except MisfitError as misfit:
        raise _encode_error(misfit, type(obj), version) from None


def from_json(cls: type[M], value: Mapping[str, Any], version: int) -> M:
    """Return the message that `to_json`, or Kafka's converter, printed at `version`.

    Members that the version does not have are ignored, as Kafka does. EncodeError, with the path in
    Kafka's names, where a member is missing or holds what its field cannot.
    """
    struct = cls.at(version)
    try:
        return cast(M, _read(struct, value, ""))
    except MisfitError as misfit:
        raise _encode_error(misfit, cls, version) from None


def defaults(struct: ObjectStruct) -> dict[str, Any]:
    """Return the members of a struct that nothing was set in; tagged ones have no need to be."""
    return cast(dict[str, Any], writer(struct, False)(struct.cls()))


def _encode_error(misfit: MisfitError, cls: type[Message], version: int) -> EncodeError:
    return EncodeError(misfit.reason, message=cls.__name__, version=version, path=misfit.path)


def _at(path: str, name: str) -> str:
    return f"{path}.{camel(name)}" if path else camel(name)


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
    return checked_scalar(con, value, path)


def _read_struct(struct: ObjectStruct, value: Mapping[str, Any], path: str) -> Any:
    fields: dict[str, Any] = {}
    for field in struct.subcons:
        name, where = camel(field.name), _at(path, field.name)
        if name not in value:
            raise MisfitError("is missing", where)
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
        raise MisfitError("wanted is an object of base64 by tag", where) from None


def _bytes(value: str, path: str) -> bytes:
    try:
        return b64decode(value, validate=True)
    except ValueError:
        raise MisfitError(f"{cut_repr(value)} is no base64", path) from None


def _uuid(value: str, path: str) -> UUID:
    try:
        return UUID(bytes=b64decode(value.rstrip("=") + "==", altchars=b"-_", validate=True))
    except ValueError:
        raise MisfitError(f"{cut_repr(value)} is no UUID in base64url", path) from None
