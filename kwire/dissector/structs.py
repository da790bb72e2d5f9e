"""Lua functions that read structs: one for each place of a message that has a struct.

A function has the parameters t (the tree item to add to), v (the version of the message) and x
(true in flexible versions). Readers such as `i32` and `text` are in `lua/reading.lua`; the fields
are numbers there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kwire.codec.declaration import MessageClass
from kwire.codec.fields import (
    ArrayOf,
    FieldType,
    Nullable,
    Scalar,
    StructClass,
    StructOf,
    VariableLength,
)
from kwire.codec.versions import Versions
from kwire.dissector.proto_fields import ELEMENT, STRUCT, TYPES, ProtoFields, snake
from kwire.dissector.value_names import ERRORS, table_of

READERS = {
    "int8": "i8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "uint32": "u32",
    "int64": "i64",
    "float64": "f64",
    "boolean": "bool",
    "uuid": "uuid",
    "string": "text",
    "bytes": "blob",
    "records": "records",
}
"""The Lua function that reads each kind of value."""

SIZES = {
    "int8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "float64": 8,
    "boolean": 1,
    "uuid": 16,
}

CONTENTS: Mapping[tuple[str, str], str] = {
    ("EnvelopeRequest", "request_data"): "embedded_request",
    ("EnvelopeResponse", "response_data"): "embedded_response",
}
"""Byte fields whose contents have a reader of their own, by message and field."""

TOPICS = frozenset({"topic", "topic_name", "name", "topic_id"})
"""Fields that say of which topic the records are that follow in the struct."""


class StructFunctions:
    """The functions of all structs, in the table S of the Lua file, and their tags in TAGS."""

    def __init__(self, fields: ProtoFields) -> None:
        self._fields = fields
        self._lines: list[str] = []
        self._counts = {"S": 0, "TAGS": 0}

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def message(self, cls: MessageClass, prefix: str) -> str:
        """Return the function of a message whose fields have names below `prefix`."""
        return _MessageFunctions(self, cls).struct(cls, prefix)

    def field(self, name: str, type: str, values: str = "") -> int:
        """Return the number of a field."""
        return self._fields.add(name, type, values)

    def define(self, table: str, opening: str, body: list[str], closing: str) -> str:
        """Write a new entry of a table; return how Lua code refers to it."""
        self._counts[table] += 1
        reference = f"{table}[{self._counts[table]}]"
        self._lines += [f"{reference} = {opening}", *(f"  {line}" for line in body), closing]
        return reference


class _MessageFunctions:
    """The functions of one message."""

    def __init__(self, target: StructFunctions, cls: MessageClass) -> None:
        self._target = target
        self._message = cls
        self._versions = sorted(cls.versions)
        self._has_records = _contains_records(cls)
        flexible = [version for version in self._versions if version in cls.flexible]
        self._flexible = {"": "true", None: "false"}.get(self._condition(flexible), "x")

    def struct(self, cls: StructClass, path: str) -> str:
        """Return the function of a struct, after those of the structs in it."""
        body: list[str] = []
        tags: list[str] = []
        for name, field in cls.fields.items():
            exists = {version for version in self._versions if version in field.versions}
            tagged = {v for v in exists if field.tag is not None and v in field.tagged}
            call = self._call(field.type, name, f"{path}.{snake(name)}") if exists else ""
            plain = self._condition(exists - tagged)
            if plain is not None:
                body.append(f"if {plain} then {call} end" if plain else call)
            where = self._condition(tagged)
            if where is not None:
                check = f"if not ({where}) then return true end " if where else ""
                tags.append(f"[{field.tag}] = function(t, v, x) {check}{call} end,")
        if self._flexible != "false":
            known = self._target.define("TAGS", "{", tags, "}") if tags else "nil"
            call = f"tags(t, v, x, {known})"
            body.append(call if self._flexible == "true" else f"if x then {call} end")
        opening = f"function(t, v, x) -- {self._message.__name__} {path}"
        return self._target.define("S", opening, body, "end")

    def _call(self, type: FieldType, name: str, path: str) -> str:
        """Return the Lua statement that reads a field."""
        if isinstance(type, Nullable):
            if isinstance(type.inner, StructOf):
                return self._nullable_struct(type.inner, type.versions, path)
            type = type.inner
        if isinstance(type, ArrayOf):
            return self._array(type.element, name, path)
        if isinstance(type, StructOf):
            return f"nested({self._struct_arguments(type, path, STRUCT)})"
        assert isinstance(type, Scalar | VariableLength), f"{type} has no reader"
        table = table_of(self._message.__name__, name, type.kind)
        number = self._target.field(path, TYPES[type.kind], table)
        call = self._value(type, name, number, table)
        is_topic = self._has_records and name in TOPICS and type.kind in ("string", "uuid")
        return f"context.topic = {call}" if is_topic else call

    def _value(self, type: Scalar | VariableLength, name: str, number: int, table: str) -> str:
        if isinstance(type, Scalar):
            return f"{'code' if table == ERRORS else READERS[type.kind]}(t, {number})"
        flexible = "false" if type.classic else self._flexible
        reader = CONTENTS.get((self._message.__name__, name), READERS[type.kind])
        return f"{reader}(t, {number}, {flexible})"

    def _array(self, element: FieldType, name: str, path: str) -> str:
        """Elements are never null: kwire's declarations have no such arrays."""
        least = max(1, min(self._least(element, version) for version in self._versions))
        if isinstance(element, StructOf):
            return f"array({self._struct_arguments(element, path, ELEMENT)}, {least})"
        assert isinstance(element, Scalar | VariableLength), f"{element} is no element"
        table = table_of(self._message.__name__, name, element.kind)
        number = self._target.field(path, TYPES[element.kind], table)
        return f"list(t, {number}, {READERS[element.kind]}, {self._flexible}, {least})"

    def _struct_arguments(self, type: StructOf, path: str, kind: str) -> str:
        number = self._target.field(path, kind)
        return f"t, v, {self._flexible}, {number}, {self.struct(type.cls, path)}"

    def _nullable_struct(self, type: StructOf, versions: Versions, path: str) -> str:
        arguments = self._struct_arguments(type, path, STRUCT)
        marker = "true" if type.marker == "uvarint" else "false"
        nullable = self._condition({v for v in self._versions if v in versions})
        if nullable is None:
            return f"nested({arguments})"
        maybe = f"optional({arguments}, {marker})"
        return f"if {nullable} then {maybe} else nested({arguments}) end" if nullable else maybe

    def _condition(self, versions: Iterable[int]) -> str | None:
        """Return the Lua condition of these versions; "" for all of them, None for none."""
        chosen = set(versions)
        parts = [_range(first, last, self._versions) for first, last in Versions.of(chosen).ranges]
        if not chosen:
            return None
        return "" if chosen == set(self._versions) else " or ".join(parts)

    def _least(self, type: FieldType, version: int) -> int:
        """Return the fewest bytes that a value takes: what a claimed count is checked against."""
        flexible = version in self._message.flexible
        match type:
            case Scalar():
                return SIZES[type.kind]
            case VariableLength():
                return 1 if flexible and not type.classic else SIZES[type.length]
            case ArrayOf():
                return 1 if flexible else SIZES["int32"]
            case Nullable(inner=StructOf()):
                return 1
            case Nullable():
                return self._least(type.inner, version)
            case StructOf():
                return self._least_struct(type.cls, version) + flexible
        raise AssertionError(type)

    def _least_struct(self, cls: StructClass, version: int) -> int:
        return sum(
            self._least(field.type, version)
            for field in cls.fields.values()
            if version in field.versions and not (field.tag is not None and version in field.tagged)
        )


def _range(first: int, last: int, versions: list[int]) -> str:
    if first == last:
        return f"v == {first}"
    if last == versions[-1]:
        return f"v >= {first}"
    return f"v <= {last}" if first == versions[0] else f"v >= {first} and v <= {last}"


def _contains_records(cls: StructClass) -> bool:
    return any(_has_records(field.type) for field in cls.fields.values())


def _has_records(type: FieldType) -> bool:
    match type:
        case VariableLength(kind=kind):
            return kind == "records"
        case Nullable(inner=inner) | ArrayOf(element=inner):
            return _has_records(inner)
        case StructOf(cls=cls):
            return _contains_records(cls)
    return False
