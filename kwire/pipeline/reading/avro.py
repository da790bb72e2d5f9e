"""Captures through Spark's own Avro reader, for storage that Spark reaches and Python does not.

It needs the package spark-avro (`kwire.pipeline.installed`), splits files like any other of Spark's
sources, and gives every version of the container the columns of the newest. It fails on a torn file
(repair it first) and does not look at the records' CRCs, both unlike `format("kwire")`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from kwire.capture.schema import SCHEMA, SINCE
from kwire.pipeline.decoding import CAPTURED
from kwire.pipeline.spark_columns import spark_schema
from kwire.pipeline.store.location import absolute


def read_avro(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Read the rows of CAPTURED from captures, with Spark's Avro reader."""
    reader = spark.read.format("avro").option("avroSchema", json.dumps(_reader_schema()))
    rows = reader.option("pathGlobFilter", "*.avro").load([absolute(path) for path in paths])
    with_file = rows.withColumn("file", f.col("_metadata.file_path"))
    return with_file.select(
        [f.col(field.name).cast(field.dataType) for field in spark_schema(CAPTURED)]
    )


def _reader_schema() -> dict[str, Any]:
    """Return the newest schema; fields that older files do not have are empty lists by default."""
    fields = [
        field | {"default": []} if field["name"] in SINCE else field for field in SCHEMA["fields"]
    ]
    return SCHEMA | {"fields": fields}
