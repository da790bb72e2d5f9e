"""Counts that Spark takes while it writes: rows read must be rows written."""

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
    """Return the count of all rows, as `rows`."""
    return f.count(f.lit(1)).alias("rows")


def statuses() -> list[Column]:
    """Return the counts of frames by status, and of notices: together every row."""
    status, notice = f.col("status"), f.col("notice")
    counts = [f.count_if(status == name).alias(name) for name in STATUSES]
    lost = notice.eqNullSafe(f.lit(DAMAGE))
    others = (f.col("kind") == NOTICE) & ~lost
    return [*counts, f.count_if(others).alias(NOTICE), f.count_if(lost).alias(DAMAGE)]


def failures() -> list[Column]:
    """Return the counts of failed verdicts, by check."""
    return [
        f.count_if((f.col("check") == check) & ~f.col("passed")).alias(check) for check in CHECKS
    ]


def ensure_same(read: int, written: int, what: str) -> None:
    """Raise CountsDiffer unless the counts are equal. what: the noun for the message."""
    if read != written:
        raise CountsDiffer(
            f"{read} {what} were read and {written} written: a file has changed meanwhile, or kwire"
            " is at fault; do not use these tables."
        )
