"""Columns with a description, columns made from declarations, columns looked up in a dict."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from construct import Construct, Flag, Float64b, Int8sb, Int16sb, Int16ub, Int32sb, Int32ub, Int64sb
from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

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
_SCALARS: dict[Construct, DataType] = {
    Flag: BooleanType(),
    Int8sb: ByteType(),
    Int16sb: ShortType(),
    Int16ub: IntegerType(),
    Int32sb: IntegerType(),
    Int32ub: LongType(),
    Int64sb: LongType(),
    Float64b: DoubleType(),
    constructs.uuid: StringType(),
}


def column(name: str, kind: DataType, doc: str) -> StructField:
    """Return a column with its description, which Spark and Parquet keep."""
    return StructField(name, kind, True, {"comment": doc})


def doc_of(field: StructField) -> str:
    """Return the description of a column."""
    return str(field.metadata.get("comment", ""))


@cache
def struct_of(cls: StructClass) -> StructType:
    """Return the fields of all versions of a message, under their Python names; ids as text."""
    return StructType(
        [StructField(name, type_of(field.type), True) for name, field in cls.fields.items()]
    )


def type_of(node: FieldType) -> DataType:
    """Return the Spark type of a declared type. Record batches stay in the capture: see `body`."""
    match node:
        case Nullable():
            return type_of(node.inner)
        case ArrayOf():
            return ArrayType(type_of(node.element), True)
        case StructOf():
            return struct_of(node.cls)
        case VariableLength():
            return StringType() if node.construct_class is constructs.Text else BinaryType()
        case Scalar():
            return _SCALARS[node.con]
    raise AssertionError(f"{node!r} has no column type")


def lookup(table: Mapping[int, int | str] | Mapping[str, str], key: Column) -> Column:
    """Return the column of what a dict has for a key; null if it has nothing."""
    return f.create_map(*(f.lit(item) for pair in table.items() for item in pair))[key]
