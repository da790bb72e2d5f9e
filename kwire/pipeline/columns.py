"""Columns in Arrow's types: with a description, and made from declarations of messages."""

from __future__ import annotations

from functools import cache

import pyarrow as pa
from construct import Construct, Flag, Float64b, Int8sb, Int16sb, Int16ub, Int32sb, Int32ub, Int64sb

from kwire.codec import constructs
from kwire.codec.fields import (
    ArrayOf,
    FieldType,
    Nullable,
    Scalar,
    StructClass,
    StructOf,
    VariableLength,
)

# Spark has no unsigned types: the next larger type holds every value.
_SCALARS: dict[Construct, pa.DataType] = {
    Flag: pa.bool_(),
    Int8sb: pa.int8(),
    Int16sb: pa.int16(),
    Int16ub: pa.int32(),
    Int32sb: pa.int32(),
    Int32ub: pa.int64(),
    Int64sb: pa.int64(),
    Float64b: pa.float64(),
    constructs.uuid: pa.string(),
}


def column(name: str, kind: pa.DataType, doc: str) -> pa.Field:
    """Return a column with its description, which Spark and Parquet keep."""
    return pa.field(name, kind, metadata={"comment": doc})


def doc_of(field: pa.Field) -> str:
    """Return the description of a column; empty for a field of a message."""
    return str((field.metadata or {}).get(b"comment", b""), "utf-8")


def list_of(kind: pa.DataType) -> pa.ListType:
    """Return the type of lists, whose elements have the name that Spark and Parquet give them."""
    return pa.list_(pa.field("element", kind))


@cache
def struct_of(cls: StructClass) -> pa.StructType:
    """Return the fields of all versions of a message, under their Python names; ids as text."""
    return pa.struct([pa.field(name, type_of(field.type)) for name, field in cls.fields.items()])


def type_of(node: FieldType) -> pa.DataType:
    """Return the type of a declared type. Record batches stay in the capture: see `body`."""
    match node:
        case Nullable():
            return type_of(node.inner)
        case ArrayOf():
            return list_of(type_of(node.element))
        case StructOf():
            return struct_of(node.cls)
        case VariableLength():
            return pa.string() if node.construct_class is constructs.Text else pa.binary()
        case Scalar():
            return _SCALARS[node.con]
    raise AssertionError(f"{node!r} has no column type")
