"""Walks a construct tree into the parts that the C extension makes its tables of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from construct import Construct, Flag, Float64b, Int8sb, Int16sb, Int32sb

from kwire.codec import constructs
from kwire.codec.constructs import Blob, KafkaArray, NullableStruct, ObjectStruct, Tag, Text
from kwire.codec.native.parts import Part, Unsupported, maker

FIXED: Mapping[Construct, str] = {
    **constructs.INTEGERS,
    Float64b: "float64",
    Flag: "boolean",
    constructs.uuid: "uuid",
}

WIDTHS: Mapping[Construct, str] = {
    Int8sb: "int8",
    Int16sb: "int16",
    Int32sb: "int32",
    constructs.uvarint: "uvarint",
    constructs.compact: "compact",
}


def describe(struct: ObjectStruct) -> tuple[Part, ...]:
    """Return the parts of a struct, itself the last."""
    walk = _Walk()
    walk.index(struct)
    return tuple(walk.parts)


class _Walk:
    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.indexes: dict[int, int] = {}

    def index(self, con: Construct) -> int:
        """Return the index of a construct's part; a construct that is met again has one already."""
        # A struct of a declaration is one construct at one version, so that its parts are made
        # once.
        index = self.indexes.get(id(con))
        if index is None:
            part = self.part(con)
            index = self.indexes[id(con)] = len(self.parts)
            self.parts.append(part)
        return index

    def part(self, con: Construct) -> Part:
        match con:
            case Text():
                return "text", _name(WIDTHS, con.length), con.nullable
            case Blob():
                return "bytes", _name(WIDTHS, con.length), con.nullable
            case KafkaArray():
                return self.array(con)
            case NullableStruct():
                return "optional", _name(WIDTHS, con.marker), con.null, self.index(con.subcon)
            case ObjectStruct():
                return self.struct(con)
        return (_name(FIXED, con),)

    def array(self, con: KafkaArray) -> Part:
        if con.make not in (list, tuple):
            raise Unsupported(f"an array that becomes a {con.make!r}")
        width = _name(WIDTHS, con.length)
        return con.make.__name__, width, con.nullable, con.least, self.index(con.subcon)

    def struct(self, struct: ObjectStruct) -> Part:
        members = (*self.fields(struct), *self.tags(struct), *_absent(struct))
        return "struct", struct.cls, struct.tags is not None, members

    def fields(self, struct: ObjectStruct) -> Iterator[Part]:
        for field in struct.subcons:
            yield field.name, self.index(field.subcon), -1, None, None, False

    def tags(self, struct: ObjectStruct) -> Iterator[Part]:
        for number, tag in _known(struct).items():
            make = maker(tag.default)
            yield tag.name, self.index(tag.con), number, tag.default, make, False


def _known(struct: ObjectStruct) -> Mapping[int, Tag]:
    return struct.tags.known if struct.tags else {}


def _absent(struct: ObjectStruct) -> Iterator[Part]:
    written = {field.name for field in struct.subcons} | {"unknown_tags"}
    written.update(tag.name for tag in _known(struct).values())
    new = struct.cls()
    for name in struct.cls.__struct_fields__:
        if name not in written:
            default = struct.refused.get(name, getattr(new, name))
            yield name, -1, -1, default, maker(default), name in struct.refused


def _name(names: Mapping[Construct, str], con: Construct) -> str:
    name = names.get(con)
    if name is None:
        raise Unsupported(f"no part for {con!r}")
    return name
