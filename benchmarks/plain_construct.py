"""A message as plain construct, for construct's own compiler: Containers instead of classes."""

from __future__ import annotations

from typing import Any

from construct import (
    Array,
    Bytes,
    Construct,
    ExprAdapter,
    GreedyBytes,
    IfThenElse,
    PascalString,
    Pass,
    Prefixed,
    PrefixedArray,
    Struct,
    VarInt,
    obj_,
    this,
)

from kwire.codec.constructs import Compact, KafkaArray, LengthPrefixed, ObjectStruct, Text, Uuid

COMPACT = ExprAdapter(VarInt, obj_ - 1, obj_ + 1)


def plain(con: Construct) -> Construct:
    """The same layout without kwire's nodes; tagged fields stay raw bytes by tag."""
    match con:
        case ObjectStruct():
            fields = [field.name / plain(field.subcon) for field in con.subcons]
            return Struct(*fields, "tags" / _tags()) if con.tags is not None else Struct(*fields)
        case Uuid():
            return Bytes(16)
        case KafkaArray() if not con.nullable:
            return PrefixedArray(_length(con), plain(con.subcon))
        case Text() if not con.nullable:
            return PascalString(_length(con), "utf8")
        case KafkaArray():
            return _nullable(_length(con), lambda n: Array(n, plain(con.subcon)))
        case LengthPrefixed() if con.nullable:
            return _nullable(_length(con), Bytes)
        case LengthPrefixed():
            return Prefixed(_length(con), GreedyBytes)
    return con


def _length(con: LengthPrefixed) -> Construct:
    return COMPACT if isinstance(con.length, Compact) else con.length


def _tags() -> Construct:
    field = Struct("tag" / VarInt, "data" / Prefixed(VarInt, GreedyBytes))
    return PrefixedArray(VarInt, field)


def _nullable(length: Construct, sized: Any) -> Construct:
    """The length stays visible, so that nothing but construct's own nodes is needed."""
    return Struct("n" / length, "value" / IfThenElse(this.n >= 0, sized(this.n), Pass))
