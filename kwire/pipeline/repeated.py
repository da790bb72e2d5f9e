"""Frames that come again: in a copy of a capture, or in one that the tables have already.

A frame is known by its recording, the number of its event and its kind, whatever file it is in.
Damage has none of them, and is never the same.
"""

from __future__ import annotations

import fsspec
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from kwire.capture import REQUEST, RESPONSE
from kwire.errors import LocalError
from kwire.pipeline.schemas import TABLES

FRAME = ("capture", "event", "kind")


class AlreadyThere(LocalError):
    """A capture is in the tables that it is to be written to; the message names it."""


def repeats(decoded: DataFrame) -> int:
    """How many rows are of a frame that another row is of."""
    times = decoded.where("capture is not null").groupBy(*FRAME).count()
    found = times.agg(f.sum(f.col("count") - 1)).collect()[0][0]
    return int(found or 0)


def once(decoded: DataFrame) -> DataFrame:
    """A row for every frame: one beside its other half, if there is one, with most of its bytes."""
    best = Window.partitionBy(*FRAME).orderBy(f.desc("paired"), f.desc_nulls_last("copied"), "file")
    named = decoded.where("capture is not null").withColumn("place", f.row_number().over(best))
    return named.where("place = 1").drop("place").unionByName(decoded.where("capture is null"))


def ensure_new(decoded: DataFrame, output: str, tables: list[str]) -> None:
    """AlreadyThere where one of these tables below `output` tells of one of these frames."""
    there = [name for name in tables if _is_there(output, name)]
    near = _near(decoded) if there else None
    if near is None:
        return
    for name in there:
        told = _told_of(decoded.sparkSession, output, name, near)
        for row in decoded.join(told, list(FRAME), "left_semi").take(1):
            raise AlreadyThere(
                f"frames of {row.file} are in {output}/{name} already: ingest it into another"
                " folder, or follow a folder with kwire pipeline stream, which takes what is new."
            )


def new(decoded: DataFrame, output: str) -> tuple[DataFrame, int]:
    """A row for every frame that the table `frames` below `output` has not; how many rows less."""
    again = repeats(decoded)
    rows = once(decoded) if again else decoded
    near = _near(decoded) if _is_there(output, "frames") else None
    if near is None:
        return rows, again
    told = _told_of(decoded.sparkSession, output, "frames", near)
    known = rows.join(told, list(FRAME), "left_semi").count()
    return rows.join(told, list(FRAME), "left_anti") if known else rows, again + known


def _is_there(output: str, table: str) -> bool:
    filesystem, path = fsspec.core.url_to_fs(f"{output}/{table}")
    return bool(filesystem.isdir(path))


def _near(decoded: DataFrame) -> Column | None:
    """Which rows of tables are of the days and the recordings of these frames; None without any."""
    day = f.to_date("at")
    found = decoded.agg(f.min(day), f.max(day), f.collect_set("capture")).collect()[0]
    first, last, captures = found
    if not captures:
        return None
    return f.col("date").between(first, last) & f.col("capture").isin(*captures)


def _told_of(spark: SparkSession, output: str, table: str, near: Column) -> DataFrame:
    """FRAME of what the rows of a table tell of that are near."""
    rows = spark.read.schema(TABLES[table]).parquet(f"{output}/{table}").where(near)
    return rows.select("capture", "event", _kind(table).alias("kind"))


def _kind(table: str) -> Column:
    """Of the frame that a row tells of, or of the first of two."""
    if "kind" in TABLES[table].names:
        return f.col("kind")
    if table == "calls":
        return f.when(f.col("request_status").isNull(), RESPONSE).otherwise(REQUEST)
    return f.lit(REQUEST)
