"""Opens tables for Spark: the files of one moment, with the columns of this version.

Spark reads the Parquet files that delta-rs lists, with its own reader: it needs no package. Where
the files are in a store of objects for which Spark has no file system, Python reads them. Each row
gets the cluster that it is of, which `sources` has for its recording, or its log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from kwire.errors import LocalError
from kwire.pipeline.columns import doc_of
from kwire.pipeline.reading.rows import read_files
from kwire.pipeline.schemas import CLUSTER_ID, PARTITIONED, TABLES
from kwire.pipeline.spark_columns import lookup, spark_schema
from kwire.pipeline.store.delta import open_table
from kwire.pipeline.store.files import INGESTED
from kwire.pipeline.store.ledger import SOURCES, Ledger
from kwire.pipeline.store.location import Location, is_local, of_hadoop

FEW = 32
"""Recordings and logs whose clusters are looked up one by one in a query."""


class NoTables(LocalError):
    """A folder has none of the tables, or lacks the one that is needed."""


def tables_in(folder: str) -> list[str]:
    """Return the names of the tables in a folder, or a URL. Raises NoTables if it has none."""
    location = Location.of(folder)
    filesystem, path = location.files()
    names = [
        name for name in TABLES if name != SOURCES and filesystem.isdir(f"{path}/{name}/_delta_log")
    ]
    if not names and not filesystem.isdir(f"{path}/{SOURCES}/_delta_log"):
        ensure_no_plain_tables(folder)
        raise NoTables(
            f"{folder} holds no tables: make them with kwire pipeline ingest --output {folder}"
        )
    return names


def ensure_no_plain_tables(folder: str) -> None:
    """Raise NoTables if there are tables of plain Parquet, which kwire does not read or add to.

    Files that an interrupted ingest has written, before it made a table of them, do not count.
    """
    filesystem, path = Location.of(folder).files()
    for name in TABLES:
        if filesystem.isdir(f"{path}/{name}/_delta_log"):
            continue
        found = [
            file
            for pattern in ("*.parquet", "*=*/*.parquet", "*=*/*=*/*.parquet")
            for file in filesystem.glob(f"{path}/{name}/{pattern}")
        ]
        if any(INGESTED.fullmatch(file.rpartition("/")[2]) is None for file in found):
            raise NoTables(
                f"{folder}/{name} has plain Parquet files, of an export or of an earlier version,"
                " which are no tables that kwire reads or adds to: ingest the captures into another"
                " folder."
            )


def open_tables(spark: SparkSession, folder: str) -> dict[str, DataFrame]:
    """Open the tables of a folder, by name, as they are at one moment; each with `cluster_id`.

    Columns younger than a file are null in its rows. An ingest that was interrupted within its last
    step is finished first. Raises NoTables, TableUnusable, CannotCommit, Busy.
    """
    tables_in(folder)
    tables = Ledger(Location.of(folder)).tables()
    frames = {name: _rows(spark, name, table) for name, table in tables.items()}
    found = _clusters(frames[SOURCES]).collect()
    clusters = {row["_source"]: row["_cluster"] for row in found}
    return {name: with_clusters(frame, clusters) for name, frame in frames.items()}


def opened(spark: SparkSession, ledger: Ledger, name: str) -> DataFrame:
    """Open one table, with all that the last look at the ledger found, and maybe more.

    It has no rows if it is not there.
    """
    table = open_table(ledger.location, name)
    return _rows(spark, name, table)


def needed(tables: dict[str, DataFrame], name: str, folder: str) -> DataFrame:
    """Return one of the tables. Raises NoTables if it is not there."""
    if name not in tables:
        raise NoTables(f"{folder} has no table {name}, only {', '.join(tables)}.")
    return tables[name]


def _clusters(sources: DataFrame) -> DataFrame:
    """Return the cluster of each recording and log, `_source`, that anything tells.

    Of several that a recording was told to be of, it is the one that most of its rows are of.
    """
    votes = (
        sources.where("cluster_id is not null")
        .groupBy(f.col("source").alias("_source"), "cluster_id")
        .agg(f.sum("rows").alias("rows"))
    )
    most = f.max_by("cluster_id", f.struct("rows", "cluster_id"))
    return votes.groupBy("_source").agg(most.alias("_cluster"))


def with_clusters(rows: DataFrame, clusters: Mapping[str, str]) -> DataFrame:
    """Add the cluster of each row, or write it over, by its recording or its log.

    Of few, Spark looks them up in the query itself: a join is a job more for every query.
    """
    names = [f.col(name) for name in ("capture", "log", "source") if name in rows.columns]
    named = rows.withColumn("_source", f.coalesce(*names[:2]))
    cluster = f.lit(None).cast("string")
    if 0 < len(clusters) <= FEW:
        cluster = lookup(clusters, f.col("_source"))
    elif clusters:
        pairs = list(clusters.items())
        known = rows.sparkSession.createDataFrame(pairs, "_source string, _cluster string")
        named, cluster = named.join(f.broadcast(known), "_source", "left"), f.col("_cluster")
    cluster = cluster.alias(CLUSTER_ID.name, metadata=_META)
    columns = [cluster if name == CLUSTER_ID.name else f.col(name) for name in rows.columns]
    return named.select(*columns, *([] if CLUSTER_ID.name in rows.columns else [cluster]))


_META = {"comment": doc_of(CLUSTER_ID)}


def _rows(spark: SparkSession, name: str, table: DeltaTable | None) -> DataFrame:
    schema = spark_schema(TABLES[name])
    files = [] if table is None else table.file_uris()
    if table is None or not files:
        return spark.createDataFrame([], schema)
    if not has_file_system(spark, table.table_uri):
        return _read_in_python(spark, files, TABLES[name])
    # basePath: `date` and `hour` are in the paths of files, not in them.
    base = of_hadoop(table.table_uri).removeprefix("file://")
    paths = [of_hadoop(path) for path in files]
    return spark.read.schema(schema).option("basePath", base).parquet(*paths)


def has_file_system(spark: SparkSession, url: str) -> bool:
    """Return True if Spark's own readers can open a URL: PySpark has no jar for S3."""
    if is_local(url):
        return True
    scheme = of_hadoop(url).partition("://")[0]
    jvm: Any = spark._jvm
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    try:
        jvm.org.apache.hadoop.fs.FileSystem.getFileSystemClass(scheme, configuration)
    except Py4JJavaError:
        return False
    return True


def _read_in_python(spark: SparkSession, files: list[str], schema: pa.Schema) -> DataFrame:
    """Read files in tasks of Python; `date` and `hour`, which are in no file, are those of `at`."""
    inside = pa.schema([field for field in schema if field.name not in PARTITIONED])
    rows = read_files(spark, files, inside)
    if set(PARTITIONED) <= set(schema.names):
        rows = rows.withColumns({"date": f.to_date("at"), "hour": f.hour("at")})
    return rows.select(*schema.names)
