"""The Spark packages that are not in PySpark, at the version of the PySpark that is installed."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

SCALA = "2.13"
"""The only Scala of Spark 4."""

AVRO = "spark-avro"
KAFKA = "spark-sql-kafka-0-10"


def coordinates(names: Iterable[str]) -> list[str]:
    """Return Maven coordinates, as `org.apache.spark:spark-avro_2.13:4.0.0`."""
    spark = version("pyspark")
    return [f"org.apache.spark:{name}_{SCALA}:{spark}" for name in names]
