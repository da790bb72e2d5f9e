"""Frames that come again: in a copy of a capture, or in one that the tables have already.

A frame is known by its recording, the number of its event and its kind, whatever file it is in.
Damage has none of them, and is never the same.
"""

from __future__ import annotations

import fsspec
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from kwire.capture import REQUEST, RESPONSE
from kwire.errors import LocalError
from pipeline.schemas import TABLES

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
    for name in tables:
        told = told_of(decoded, output, name)
        found = [] if told is None else decoded.join(told, list(FRAME), "left_semi").take(1)
        for row in found:
            raise AlreadyThere(
                f"frames of {row.file} are in {output}/{name} already: ingest it into another"
                " folder, or follow a folder with kwire pipeline stream, which takes what is new."
            )


def new(decoded: DataFrame, output: str) -> tuple[DataFrame, int]:
    """A row for every frame that the table `frames` below `output` has not; how many rows less."""
    again = repeats(decoded)
    rows = once(decoded) if again else decoded
    told = told_of(decoded, output, "frames")
    if told is None:
        return rows, again
    known = rows.join(told, list(FRAME), "left_semi").count()
    return rows.join(told, list(FRAME), "left_anti") if known else rows, again + known


def told_of(decoded: DataFrame, output: str, table: str) -> DataFrame | None:
    """FRAME of what a table tells of, on the days and in the recordings of these frames.

    None where there is no such table, or there are no frames.
    """
    filesystem, path = fsspec.core.url_to_fs(f"{output}/{table}")
    if not filesystem.isdir(path):
        return None
    day = f.to_date("at")
    found = decoded.agg(f.min(day), f.max(day), f.collect_set("capture")).collect()[0]
    first, last, captures = found
    if not captures:
        return None
    rows = decoded.sparkSession.read.schema(TABLES[table]).parquet(f"{output}/{table}")
    near = rows.where(f.col("date").between(first, last) & f.col("capture").isin(*captures))
    return near.select("capture", "event", _kind(table).alias("kind"))


def _kind(table: str) -> Column:
    """Of the frame that a row tells of, or of the first of two."""
    if "kind" in TABLES[table].names:
        return f.col("kind")
    if table == "calls":
        return f.when(f.col("request_status").isNull(), RESPONSE).otherwise(REQUEST)
    return f.lit(REQUEST)
