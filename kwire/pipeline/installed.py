"""Checks that this environment can run Spark: PySpark, what it needs, and a Java for it.

Some packages of Spark are not in PySpark: its JVM loads them, at the version of this PySpark.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from importlib.util import find_spec

from kwire.extras import MissingExtra
from kwire.java import find_java
from kwire.pipeline.java import spark_needs

LIBRARIES = ("pyspark", "pyarrow", "pandas", "fsspec", "deltalake")
REPORTING = ("plotly", "jinja2")
"""The libraries that the report needs besides."""

SCALA = "2.13"
"""The only Scala of Spark 4."""

AVRO = "spark-avro"
KAFKA = "spark-sql-kafka-0-10"


def require_spark(*libraries: str) -> None:
    """Check that a session can be started here; imports nothing heavy.

    libraries: more packages to look for. Raises MissingExtra, JavaNotFound.
    """
    for package in (*LIBRARIES, *libraries):
        if find_spec(package) is None:
            raise MissingExtra(f"the pipeline needs {package}", "pipeline")
    find_java(spark_needs())


def coordinates(names: Iterable[str]) -> list[str]:
    """Return Maven coordinates, as `org.apache.spark:spark-avro_2.13:4.0.0`."""
    spark = version("pyspark")
    return [f"org.apache.spark:{name}_{SCALA}:{spark}" for name in names]
