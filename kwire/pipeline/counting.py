"""Counts that Spark takes while it writes: counts in are counts out."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

from kwire.capture import NOTICE
from kwire.errors import LocalError
from kwire.pipeline.frame import STATUSES
from kwire.pipeline.reading.captured import DAMAGE
from kwire.pipeline.tables.verdicts import CHECKS


class CountsDiffer(LocalError):
    """Not every row that was read was written: a fault of the pipeline, or a file that changed."""


def count_rows() -> Column:
    """Of all rows, as `rows`."""
    return f.count(f.lit(1)).alias("rows")


def statuses() -> list[Column]:
    """Of frames by status, and of notices: together every row."""
    status, notice = f.col("status"), f.col("notice")
    counts = [f.count_if(status == one).alias(one) for one in STATUSES]
    lost = notice.eqNullSafe(f.lit(DAMAGE))
    told = (f.col("kind") == NOTICE) & ~lost
    return [*counts, f.count_if(told).alias(NOTICE), f.count_if(lost).alias(DAMAGE)]


def failures() -> list[Column]:
    """Of verdicts that do not hold, by check."""
    return [f.count_if((f.col("check") == one) & ~f.col("passed")).alias(one) for one in CHECKS]


def ensure_same(read: int, written: int, what: str) -> None:
    """CountsDiffer unless they are equal."""
    if read != written:
        raise CountsDiffer(
            f"{read} {what} were read and {written} written: a file has changed meanwhile, or kwire"
            " is at fault; do not use these tables."
        )
