"""Arrow's schemas, in which the tables are declared, as Spark's; columns looked up in a dict."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import ArrayType, DataType, StructField, StructType


@cache
def spark_schema(fields: pa.Schema | pa.StructType) -> StructType:
    """Return the same columns for Spark, with their descriptions, which its own function drops."""
    return StructType(
        [StructField(field.name, spark_type(field.type), True, _comment(field)) for field in fields]
    )


def spark_type(kind: pa.DataType) -> DataType:
    """Return the type of Spark's that is an Arrow type."""
    match kind:
        case pa.StructType():
            return spark_schema(kind)
        case pa.ListType():
            return ArrayType(spark_type(kind.value_type))
    return from_arrow_type(kind)


def lookup(table: Mapping[int, int | str] | Mapping[str, str], key: Column) -> Column:
    """Return the column of what a dict has for a key; null if it has nothing."""
    return f.create_map(*(f.lit(item) for pair in table.items() for item in pair))[key]


def _comment(field: pa.Field) -> dict[str, str]:
    return {name.decode(): text.decode() for name, text in (field.metadata or {}).items()}
