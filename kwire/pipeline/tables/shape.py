"""The last step of every table: its own columns, in their order, with date and hour."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from kwire.pipeline.schemas import TABLES


def shaped(rows: DataFrame, table: str) -> DataFrame:
    """Return the rows with exactly the columns of a table; missing ones are null."""
    dated = rows.withColumns({"date": f.to_date("at"), "hour": f.hour("at")})
    return dated.select([_column(dated, name, TABLES[table]) for name in TABLES[table].names])


def _column(rows: DataFrame, name: str, schema: StructType) -> Column:
    field = schema[name]
    value = f.col(name) if name in rows.columns else f.lit(None)
    return value.cast(field.dataType).alias(name, metadata=field.metadata)
