"""Hand-made rows of a table, with the columns that a test is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.schemas import CLUSTER_ID, TABLES
from kwire.pipeline.spark_columns import spark_schema

BEGIN = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


def second(seconds: float) -> datetime:
    """So many seconds into the night."""
    return BEGIN + timedelta(seconds=seconds)


def rows(spark: SparkSession, table: str, *found: dict[str, Any], columns: str = "") -> DataFrame:
    """Rows with the columns that any of them names, and `columns`; null where they are silent.

    They have `cluster_id` as opened tables do, at their end.
    """
    named = {name for row in found for name in row} | set(columns.split())
    named -= {"cluster_id"}
    fields = [field for field in TABLES[table] if field.name in named]
    schema = pa.schema([*fields, CLUSTER_ID])
    whole = [{name: row.get(name) for name in schema.names} for row in found]
    # Of Arrow, Spark makes rows that its planner knows: it neither sorts nor shuffles them to join.
    return spark.createDataFrame(pa.Table.from_pylist(whole, schema), spark_schema(schema))


def row_values(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows in their order, for comparison."""
    return [tuple(row) for row in frame.collect()]


def stretch(source: str, begin: float, end: float, first: int = 0, last: int = 9) -> dict[str, Any]:
    """Return a stretch of a recording, as a row of `sources`. begin, end: see `second`."""
    return {
        **{"kind": "CAPTURE", "source": source, "first": first, "last": last},
        **{"begin": second(begin), "end": second(end)},
    }
