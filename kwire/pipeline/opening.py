"""Opens tables that were written before, with the columns of this version."""

from __future__ import annotations

import fsspec
from pyspark.sql import DataFrame, SparkSession

from kwire.errors import LocalError
from kwire.pipeline.schemas import TABLES


class NoTables(LocalError):
    """A folder has none of the tables, or lacks the one that is needed."""


def tables_in(folder: str) -> list[str]:
    """Return the names of the tables in a folder, or a URL. Raises NoTables if it has none."""
    filesystem, path = fsspec.core.url_to_fs(folder)
    names = [name for name in TABLES if filesystem.isdir(f"{path}/{name}")]
    if not names:
        raise NoTables(
            f"{folder} holds no tables: make them with kwire pipeline ingest --output {folder}"
        )
    return names


def open_tables(spark: SparkSession, folder: str) -> dict[str, DataFrame]:
    """Open the tables of a folder, by name; columns younger than a file are null in its rows."""
    return {
        name: spark.read.schema(TABLES[name]).parquet(f"{folder}/{name}")
        for name in tables_in(folder)
    }


def needed(tables: dict[str, DataFrame], name: str, folder: str) -> DataFrame:
    """Return one of the tables. Raises NoTables if it is not there."""
    if name not in tables:
        raise NoTables(f"{folder} has no table {name}, only {', '.join(tables)}.")
    return tables[name]
