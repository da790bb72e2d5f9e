"""Repeated frames: of a copy of a capture, or of a capture that the tables have already.

A frame is identified by its recording, the number of its event and its kind, whatever file it is
in. Rows of damage have none of them, and are never taken for the same.
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
    """A capture is in the target tables already; the message names it."""


def repeats(decoded: DataFrame) -> int:
    """Count the rows whose frame another row has as well."""
    times = decoded.where("capture is not null").groupBy(*FRAME).count()
    repeated = times.agg(f.sum(f.col("count") - 1)).collect()[0][0]
    return int(repeated or 0)


def once(decoded: DataFrame) -> DataFrame:
    """Return one row for every frame: of repeats a paired one, then the one with most bytes."""
    best = Window.partitionBy(*FRAME).orderBy(f.desc("paired"), f.desc_nulls_last("copied"), "file")
    ranked = decoded.where("capture is not null").withColumn("rank", f.row_number().over(best))
    return ranked.where("rank = 1").drop("rank").unionByName(decoded.where("capture is null"))


def ensure_new(decoded: DataFrame, output: str, tables: list[str]) -> None:
    """Raise AlreadyThere if one of these tables below `output` has a row of one of these frames.

    Tables may be asked for one by one, and a run that was interrupted leaves rows in some of them:
    to skip frames that are there would lose rows of the other tables without a word.
    """
    there = [name for name in tables if _is_there(output, name)]
    candidates = _possible_repeats(decoded) if there else None
    if candidates is None:
        return
    for name in there:
        in_tables = _frames_in(decoded.sparkSession, output, name, candidates)
        for row in decoded.join(in_tables, list(FRAME), "left_semi").take(1):
            raise AlreadyThere(
                f"frames of {row.file} are in {output}/{name} already: ingest it into another"
                " folder, or follow a folder with kwire pipeline stream, which takes what is new."
            )


def new(decoded: DataFrame, output: str) -> tuple[DataFrame, int]:
    """Return a row for every frame that the table `frames` has not, and the count of rows left out.

    A stream writes all tables of a batch or none, so that to skip known frames loses nothing.
    """
    again = repeats(decoded)
    rows = once(decoded) if again else decoded
    candidates = _possible_repeats(decoded) if _is_there(output, "frames") else None
    if candidates is None:
        return rows, again
    in_tables = _frames_in(decoded.sparkSession, output, "frames", candidates)
    known = rows.join(in_tables, list(FRAME), "left_semi").count()
    return rows.join(in_tables, list(FRAME), "left_anti") if known else rows, again + known


def _is_there(output: str, table: str) -> bool:
    filesystem, path = fsspec.core.url_to_fs(f"{output}/{table}")
    return bool(filesystem.isdir(path))


def _possible_repeats(decoded: DataFrame) -> Column | None:
    """Return the condition for rows of the days and recordings of these frames; None without any.

    Tables are partitioned by day: Spark then opens only the files of these days.
    """
    day = f.to_date("at")
    first, last, captures = decoded.agg(f.min(day), f.max(day), f.collect_set("capture")).collect()[
        0
    ]
    if not captures:
        return None
    return f.col("date").between(first, last) & f.col("capture").isin(*captures)


def _frames_in(spark: SparkSession, output: str, table: str, candidates: Column) -> DataFrame:
    """Return FRAME of the rows of a table that meet the condition."""
    rows = spark.read.schema(TABLES[table]).parquet(f"{output}/{table}").where(candidates)
    return rows.select("capture", "event", _kind(table).alias("kind"))


def _kind(table: str) -> Column:
    """Return the kind of the frame of a row; of a call, which has two, that of the first."""
    if "kind" in TABLES[table].names:
        return f.col("kind")
    if table == "calls":
        return f.when(f.col("request_status").isNull(), RESPONSE).otherwise(REQUEST)
    return f.lit(REQUEST)
