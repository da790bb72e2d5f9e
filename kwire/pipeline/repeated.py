"""Repeated frames: of a copy of a capture, or of a capture that the tables have already.

A frame is identified by its recording, the number of its event and its kind, whatever file it is
in; bytes that cannot be read by their file and the sentence about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from kwire.capture import REQUEST, RESPONSE
from kwire.errors import LocalError
from kwire.pipeline.opening import opened
from kwire.pipeline.store.ledger import Ledger
from kwire.pipeline.store.sources import DAMAGE, Stretch

FRAME = ("frame_source", "frame_event", "frame_kind")


class AlreadyThere(LocalError):
    """Some of the chosen tables have a capture, and others lack it; the message names it."""


def tables_with(known: Iterable[dict[str, Any]], chosen: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of `sources` that were written to the chosen tables.

    Raises AlreadyThere if one was written to some of them only: to pass over its frames would lose
    rows of the others.
    """
    there = [row for row in known if set(chosen) & set(row["tables"])]
    for row in there:
        if set(chosen) <= set(row["tables"]):
            continue
        tables = {name for other in there if _covers(other, row) for name in other["tables"]}
        if lacking := sorted(set(chosen) - tables):
            have = [name for name in chosen if name in tables]
            raise AlreadyThere(
                f"{row['file']} is in {', '.join(have)} already, and not in {', '.join(lacking)}:"
                " ingest these tables, too, or ingest it into another folder."
            )
    return there


def _covers(other: dict[str, Any], row: dict[str, Any]) -> bool:
    """Return True if one row of `sources` has everything that another one has."""
    same = (other["kind"], other["source"]) == (row["kind"], row["source"])
    return same and other["first"] <= row["first"] and row["last"] <= other["last"]


def once(decoded: DataFrame) -> DataFrame:
    """Return one row for every frame: of repeats the one with most bytes."""
    best = Window.partitionBy(*FRAME).orderBy(f.desc_nulls_last("copied"), "file")
    ranked = _named(decoded).withColumn("rank", f.row_number().over(best))
    return ranked.where("rank = 1").drop("rank", *FRAME)


def without(decoded: DataFrame, known: DataFrame) -> DataFrame:
    """Return the rows whose frames are not among the known ones. known: rows of FRAME."""
    return _named(decoded).join(known, list(FRAME), "left_anti").drop(*FRAME)


def known_frames(
    spark: SparkSession,
    ledger: Ledger,
    known: Sequence[dict[str, Any]],
    stretches: Sequence[Stretch],
    chosen: Sequence[str],
) -> DataFrame:
    """Return FRAME of the frames that tables have of these rows of `sources`.

    stretches: those that are to be written. chosen: the tables.
    """
    # `frames` has a row for each. Without it, every other table has some that the rest lacks.
    names = ["frames"] if "frames" in chosen else chosen
    found = [
        _halves(opened(spark, ledger, name).where(_candidates(name, known, stretches)), name)
        for name in names
    ]
    return reduce(DataFrame.union, found).distinct()


def _candidates(
    table: str, known: Sequence[dict[str, Any]], stretches: Sequence[Stretch]
) -> Column:
    """Return the condition for rows that may be the same: Spark then opens few files for them."""
    captures = sorted({row["source"] for row in known if row["kind"] != DAMAGE})
    ours = [stretch for stretch in stretches if stretch.source in captures]
    wanted = f.col("capture").isin(captures)
    if ours:
        first, last = min(one.first for one in ours), max(one.last for one in ours)
        wanted = wanted & f.col("event").between(first, last)
    begins = [row["begin"] for row in known if row["begin"] is not None]
    ends = [row["end"] for row in known if row["end"] is not None]
    if begins:
        # Tables are partitioned by day.
        days = f.col("date").between(f.lit(min(begins).date()), f.lit(max(ends).date()))
        wanted = wanted & (days | f.col("date").isNull())
    if table != "frames":
        return wanted
    files = sorted({row["source"] for row in known if row["kind"] == DAMAGE})
    no_frame = f.col("date").isNull() & f.col("capture").isNull()
    return wanted | (no_frame & f.col("file").isin(files))


def _halves(rows: DataFrame, table: str) -> DataFrame:
    """Return FRAME of all frames in the rows of a table; a call may have two."""
    if table == "calls":
        sides = {REQUEST: "request_status", RESPONSE: "response_status"}
        there = [f.when(f.col(status).isNotNull(), kind) for kind, status in sides.items()]
        rows = rows.withColumn("kind", f.explode(f.array_compact(f.array(*there))))
    elif "kind" not in rows.columns:
        # `quorum` has a row for a request, whatever has become of it.
        rows = rows.withColumn("kind", f.lit(REQUEST))
    return _named(rows).select(*FRAME)


def _named(rows: DataFrame) -> DataFrame:
    """Add FRAME, no column of which is null."""
    source = f.col("capture")
    if "file" in rows.columns:
        source = f.coalesce(source, f.concat_ws("\n", "file", "text"))
    return rows.withColumns(
        {
            "frame_source": source,
            "frame_event": f.coalesce("event", f.lit(-1)),
            "frame_kind": f.col("kind"),
        }
    )
