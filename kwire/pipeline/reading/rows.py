"""Reads Parquet files that the pipeline itself wrote, wherever they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.arrow_tasks import map_batches
from kwire.pipeline.spark_columns import spark_schema
from kwire.pipeline.store.location import is_local


def read_files(spark: SparkSession, paths: Sequence[str], schema: pa.Schema) -> DataFrame:
    """Return the rows of files; columns that a file lacks are null.

    Files that are not on this machine's disk are read in Python: Spark's own reader would need a
    Hadoop file system for the storage, which nothing else here does.
    """
    if not paths:
        return spark.createDataFrame([], spark_schema(schema))
    if all(map(is_local, paths)):
        return spark.read.schema(spark_schema(schema)).parquet(*paths)
    named = spark.createDataFrame([(path,) for path in paths], "path string")
    tasks = named.repartition(len(paths))
    return map_batches(tasks, partial(_read, schema), schema)


def _read(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield from parquet_batches(batch["path"].to_pylist(), schema)


def parquet_batches(paths: Iterable[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of files, with the columns of a schema."""
    for path in paths:
        with fsspec.open(path, "rb") as stream:
            file = pq.ParquetFile(stream)
            names = [name for name in schema.names if name in file.schema_arrow.names]
            for batch in file.iter_batches(columns=names):
                yield pa.RecordBatch.from_arrays(
                    [
                        batch[field.name].cast(field.type)
                        if field.name in names
                        else pa.nulls(batch.num_rows, field.type)
                        for field in schema
                    ],
                    schema=schema,
                )
