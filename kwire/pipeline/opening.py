"""Tables that were written before, opened again with the columns of today."""

from __future__ import annotations

import fsspec
from pyspark.sql import DataFrame, SparkSession

from kwire.errors import LocalError
from kwire.pipeline.schemas import TABLES


class NoTables(LocalError):
    """A folder holds none of the tables, or not the one that is needed."""


def tables_in(folder: str) -> list[str]:
    """Names of the tables that a folder, or a URL, holds; raises NoTables where it has none."""
    filesystem, path = fsspec.core.url_to_fs(folder)
    found = [name for name in TABLES if filesystem.isdir(f"{path}/{name}")]
    if not found:
        raise NoTables(
            f"{folder} holds no tables: make them with kwire pipeline ingest --output {folder}"
        )
    return found


def open_tables(spark: SparkSession, folder: str) -> dict[str, DataFrame]:
    """The tables of a folder by name; columns that are younger than a file are null in its rows."""
    return {
        name: spark.read.schema(TABLES[name]).parquet(f"{folder}/{name}")
        for name in tables_in(folder)
    }


def needed(tables: dict[str, DataFrame], name: str, folder: str) -> DataFrame:
    """One of them; raises NoTables where it is not there."""
    if name not in tables:
        raise NoTables(f"{folder} has no table {name}, only {', '.join(tables)}.")
    return tables[name]
