"""Settings of a quick JVM, and rows of a table for comparison."""

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from kwire.pipeline.opening import open_tables

QUICK = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


def rows(spark: SparkSession, output: Path, table: str) -> list[str]:
    """The rows of a table as sorted JSON."""
    found = open_tables(spark, str(output))[table]
    ordered = found.select(f.to_json(f.struct(*sorted(found.columns))))
    return sorted(row[0] for row in ordered.collect())
