"""Runs functions of Arrow batches as tasks of Spark: all batches of the JVM come in here.

Spark sends a list column without an element, below another one, with no offsets at all. Arrow's
format allows that, and pyarrow reads it, but `nbytes`, `flatten` and writers of IPC follow a null
pointer then, and the Python worker ends by a signal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RecordBatches = Iterable[pa.RecordBatch]


def map_batches(
    rows: DataFrame, function: Callable[[RecordBatches], RecordBatches], schema: pa.Schema | str
) -> DataFrame:
    """Return the rows that a function makes of the batches of each task."""
    from kwire.pipeline.spark_columns import spark_schema  # captures are read without Spark, too

    columns = schema if isinstance(schema, str) else spark_schema(schema)
    return rows.mapInArrow(partial(_run, function), columns)


def _run(
    function: Callable[[RecordBatches], RecordBatches], batches: RecordBatches
) -> Iterator[pa.RecordBatch]:
    yield from function(map(normal, batches))


def normal(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same rows, with offsets in every list, as pyarrow itself makes them."""
    columns = [pa.concat_arrays([column, pa.nulls(0, column.type)]) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
