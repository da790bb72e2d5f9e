"""The last step of every table: its own columns, in their order, with date and hour."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StructField

from kwire.pipeline.schemas import TABLES
from kwire.pipeline.spark_columns import spark_schema


def shaped(rows: DataFrame, table: str) -> DataFrame:
    """Return the rows with exactly the columns of a table; missing ones are null."""
    dated = rows.withColumns({"date": f.to_date("at"), "hour": f.hour("at")})
    return dated.select([_column(dated, field) for field in spark_schema(TABLES[table])])


def _column(rows: DataFrame, field: StructField) -> Column:
    value = f.col(field.name) if field.name in rows.columns else f.lit(None)
    return value.cast(field.dataType).alias(field.name, metadata=field.metadata)
