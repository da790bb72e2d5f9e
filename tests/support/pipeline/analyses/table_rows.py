"""Hand-made rows of a table, with the columns that a test is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from kwire.pipeline.schemas import TABLES

BEGIN = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


def second(seconds: float) -> datetime:
    """So many seconds into the night."""
    return BEGIN + timedelta(seconds=seconds)


def rows(spark: SparkSession, table: str, *found: dict[str, Any], columns: str = "") -> DataFrame:
    """Rows with the columns that any of them names, and `columns`; null where they are silent."""
    named = {name for row in found for name in row} | set(columns.split())
    schema = StructType([field for field in TABLES[table].fields if field.name in named])
    return spark.createDataFrame(
        [tuple(row.get(field.name) for field in schema.fields) for row in found], schema
    )


def row_values(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows in their order, for comparison."""
    return [tuple(row) for row in frame.collect()]
